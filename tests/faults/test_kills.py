"""A study that is killed again and again ends as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

import pytest
from faults.forked_study import LONG, SMALL, count_operations, finish, kill_at_operation
from faults.killer import kill_and_restart, outcome

FEW, MANY = 8, 50


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "study"
    assert finish(folder) == 0
    return folder


@pytest.fixture(scope="module")
def long_undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "study"
    assert finish(folder, LONG) == 0
    return folder


def test_killed_a_few_times(tmp_path, undisturbed):
    figures = kill_and_restart(tmp_path / "study", FEW, undisturbed, seed=1)
    print(figures)
    assert sum(list(figures.values())[:4]) >= FEW // 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_fifty_times(tmp_path, long_undisturbed, seed):
    figures = kill_and_restart(tmp_path / "study", MANY, long_undisturbed, seed, LONG)
    print(f"{LONG.runs} runs, none lost, none done twice; killed:", figures)
    *kills, _ = figures.values()
    assert sum(kills) >= MANY
    assert all(kills)


@pytest.mark.slow
def test_killed_before_every_single_file_operation(tmp_path):
    """Each of them in a study of its own, which then ends undisturbed."""
    assert finish(tmp_path / "undisturbed", SMALL) == 0
    operations = count_operations(tmp_path / "counted", SMALL)
    for number in range(1, operations + 1):
        folder = tmp_path / f"study-{number}"
        assert kill_at_operation(folder, number, SMALL)
        assert finish(folder, SMALL) == 0
        assert outcome(folder) == outcome(tmp_path / "undisturbed"), number
        rmtree(folder)
    print(f"{operations} studies, killed before each of the file operations: all the same bits")
