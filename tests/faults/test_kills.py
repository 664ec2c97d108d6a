"""A study that is killed again and again ends as if nothing had happened."""

from __future__ import annotations

import random
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from faults.forked_study import (
    LONG,
    RUNS,
    SHORT,
    count_operations,
    finish,
    kill_after,
    kill_at_operation,
)
from store.small_runs_on_disk import checkpoint_bits

from depthgauge.store.study_folder import StudyFolder

FEW, MANY = 8, 50
EVERY = 4
"""Of the operations, one in so many is tried: the others are of the same kinds."""

START = 60
"""File operations of a start, before anything new is trained."""


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


def outcome(folder: Path) -> dict[str, Any]:
    """Metrics, network and result of every run, without what may differ: when and how long."""
    found = {}
    for run in StudyFolder(folder).all_runs():
        result = run.result
        assert result is not None
        result.pop("provenance")
        metrics = run.metrics_path.read_bytes()
        found[run.path.name] = (result, metrics, checkpoint_bits(run.checkpoint_path))
    return found


def done_markers(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every result that is there, and which file it is: another one would have another number."""
    there = folder.glob("runs/*/result.json")
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in there}


def planned(folder: Path) -> list[str]:
    cohorts = StudyFolder(folder).plan_files.read().current
    return [config.identity for cohort in cohorts for config in cohort.configs]


def kill_and_restart(
    folder: Path, kills: int, undisturbed: Path, seed: int, epochs: int = SHORT
) -> dict[str, int]:
    """Kill the study at random moments until it has been killed so often, or has ended."""
    moments = random.Random(seed)
    figures = {"kills at a file operation": 0, "kills at a moment": 0, "done when last killed": 0}
    operations = count_operations(folder.parent / "counted", epochs)
    far = START + 2 * operations // kills
    killed = True
    while killed and sum(list(figures.values())[:2]) < kills:
        before = done_markers(folder)
        if moments.random() < 0.8:
            kind = "kills at a file operation"
            killed = kill_at_operation(folder, moments.randint(1, far), epochs)
        else:
            kind = "kills at a moment"
            killed = kill_after(folder, moments.uniform(0.05, 0.5), epochs)
        after = done_markers(folder)
        assert before.items() <= after.items(), "a run was done again after its done marker"
        if killed:
            figures[kind] += 1
            figures["done when last killed"] = len(after)
    assert finish(folder, epochs) == 0
    assert done_markers(folder).items() >= after.items()
    assert sorted(planned(folder)) == sorted(set(planned(folder))), "a run was planned twice"
    assert len(outcome(folder)) == RUNS
    assert outcome(folder) == outcome(undisturbed)
    return figures


def test_killed_a_few_times(tmp_path, undisturbed):
    figures = kill_and_restart(tmp_path / "study", FEW, undisturbed, seed=1)
    print(figures)
    assert figures["kills at a file operation"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_fifty_times(tmp_path, long_undisturbed, seed):
    figures = kill_and_restart(tmp_path / "study", MANY, long_undisturbed, seed, LONG)
    print(f"{RUNS} runs, none lost, none done twice:", figures)
    assert figures["kills at a file operation"] + figures["kills at a moment"] == MANY


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_killed_before_every_single_file_operation(tmp_path, undisturbed, part):
    """Each of them in a study of its own, which then ends undisturbed."""
    operations = count_operations(tmp_path / "counted")
    for number in range(1 + part, operations + 1, 8 * EVERY):
        folder = tmp_path / f"study-{number}"
        assert kill_at_operation(folder, number)
        assert finish(folder) == 0
        assert outcome(folder) == outcome(undisturbed), number
        rmtree(folder)
