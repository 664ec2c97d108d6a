"""Runs that are done and have lost their networks: open again, whatever happens meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from store.small_runs_on_disk import contents, done_with_network, run_config, state

from depthgauge.store.checkpoint import write_checkpoint
from depthgauge.store.done_runs import read_done_run
from depthgauge.store.run_folder import RunFolder, load_newest
from depthgauge.training.trainee import Position

CONFIG = run_config()
EPOCHS = CONFIG.recipe.epochs


class Killed(BaseException):
    """Stands for a kill: nothing that follows is executed."""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return done_with_network(tmp_path, CONFIG)


def cut_short(folder: RunFolder) -> None:
    folder.checkpoint_path.write_bytes(folder.checkpoint_path.read_bytes()[:-1])


def of_an_earlier_epoch(folder: RunFolder) -> None:
    write_checkpoint(folder.checkpoint_path, state(EPOCHS - 1))


def taken_away(folder: RunFolder) -> None:
    folder.checkpoint_path.unlink()


@pytest.mark.parametrize("change", [lambda folder: None, taken_away], ids=["whole", "taken away"])
def test_a_network_that_is_whole_or_was_taken_away_leaves_the_run_done(folder, change):
    change(folder)
    before = contents(folder.path)
    read_done_run(folder, network=True)
    assert contents(folder.path) == before


LOST = [(cut_short, None), (of_an_earlier_epoch, (EPOCHS - 1, 0))]


@pytest.mark.parametrize(("change", "position"), LOST)
def test_a_run_that_has_lost_its_network_goes_on(folder, change, position):
    result_before = folder.result_path.read_bytes()
    change(folder)
    before = contents(folder.path)
    read_done_run(folder, network=False)
    assert contents(folder.path) == before, "results alone are looked at"
    read_done_run(folder, network=True)
    assert not folder.has_ended
    aside = folder.path / "quarantine" / "1-result.json"
    assert aside.read_bytes() == result_before
    assert aside.with_name("1-result.json.reason.txt").read_text() == (
        "result.json belongs to a run whose last checkpoint is damaged\n"
    )
    assert_goes_on_from(folder, position)


def assert_goes_on_from(folder: RunFolder, position: Position | None) -> None:
    states = load_newest([folder])
    assert (states[0].position if states else None) == position


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize(("change", "position"), LOST)
def test_killed_while_it_is_mended_it_goes_on_all_the_same(
    folder, monkeypatch, change, position, step
):
    """A result and the network it belongs to are put aside in steps; any may be the last."""
    change(folder)
    replace, steps = os.replace, iter(range(step))

    def replace_or_die(source: Path, target: Path) -> None:
        if next(steps, None) is None:
            raise Killed
        replace(source, target)

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(os, "replace", replace_or_die)
        read_done_run(folder, network=True)
        load_newest([folder])
    read_done_run(folder, network=True)
    assert not folder.has_ended
    assert_goes_on_from(folder, position)
