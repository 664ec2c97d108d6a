"""The folder of one run: what it is for, its checkpoints, and what a kill leaves of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from store.small_runs_on_disk import contents, run_config, saved_states, started, state, state_bits
from store.system_limits import files_of_at_most

from depthgauge.errors import UserError
from depthgauge.store.run_folder import RunFolder

CONFIG = run_config()


class Killed(BaseException):
    """Stands for a kill: nothing that follows is executed."""


# The folder


def test_the_folder_is_named_by_the_hash_and_says_what_it_is_for(tmp_path):
    folder = started(tmp_path, CONFIG)
    assert folder.path == tmp_path / CONFIG.identity
    config = json.loads((folder.path / "config.json").read_text())
    assert config == CONFIG.model_dump(mode="json")


def test_creating_it_again_changes_nothing(tmp_path):
    folder = started(tmp_path, CONFIG, 0, 1)
    before = contents(tmp_path)
    RunFolder(tmp_path, CONFIG).create()
    assert contents(tmp_path) == before
    assert folder.result is None


@pytest.mark.parametrize("damage", ["", '{"schema_version": 1', "null", "{}"])
def test_a_configuration_that_is_not_its_own_is_put_aside_and_written_again(tmp_path, damage):
    folder = started(tmp_path, CONFIG, 1)
    whole = folder.config_path.read_text()
    folder.config_path.write_text(damage)
    folder.create()
    assert folder.config_path.read_text() == whole
    assert (folder.path / "quarantine" / "1-config.json").read_text() == damage


def test_a_run_that_raised_an_error_says_so_and_has_ended(tmp_path):
    folder = started(tmp_path, CONFIG, 1)
    assert (folder.failure, folder.has_ended) == (None, False)
    folder.fail("ZeroDivisionError: by zero", "a traceback", {"commit": "abc"})
    assert folder.has_ended
    assert folder.result is None
    assert folder.failure == {
        "schema_version": 1,
        "identity": CONFIG.identity,
        "reason": "ZeroDivisionError: by zero",
        "details": "a traceback",
        "provenance": {"commit": "abc"},
    }


def test_a_run_whose_metrics_lost_an_epoch_is_not_finished(tmp_path):
    folder = started(tmp_path, CONFIG, *range(CONFIG.recipe.epochs + 1))
    lines = folder.metrics.path.read_text().splitlines(keepends=True)
    folder.metrics.path.write_text("".join(lines[:1] + lines[2:]))
    with pytest.raises(UserError, match="epochs are missing"):
        folder.finish({})
    assert not folder.has_ended


# Checkpoints


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path):
    started(tmp_path, CONFIG, (1, 2))
    found = RunFolder(tmp_path, CONFIG).load((1, 2))
    assert state_bits(found) == state_bits(state(1, CONFIG.seed, step=2))


def test_the_checkpoint_before_the_newest_is_kept_and_no_more(tmp_path):
    folder = started(tmp_path, CONFIG, 1, (1, 5), 2)
    assert {position: state_bits(found) for position, found in saved_states(folder).items()} == {
        (1, 5): state_bits(state(1, CONFIG.seed, step=5)),
        (2, 0): state_bits(state(2, CONFIG.seed)),
    }
    assert sorted(os.listdir(folder.path)) == [
        "checkpoint.previous.safetensors",
        "checkpoint.safetensors",
        "config.json",
        "metrics.jsonl",
    ]


def test_saving_the_same_position_again_keeps_the_one_before(tmp_path):
    folder = started(tmp_path, CONFIG, 1, (1, 5), (1, 5))
    assert list(folder.saved()) == [(1, 0), (1, 5)]


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 100, -1])
def test_a_checkpoint_that_was_cut_short_does_not_count(tmp_path, kept):
    folder = started(tmp_path, CONFIG, 1, 2)
    whole = folder.checkpoint_path.read_bytes()
    folder.checkpoint_path.write_bytes(whole[:kept])
    assert list(folder.saved()) == [(1, 0)]
    assert state_bits(folder.load((1, 0))) == state_bits(state(1, CONFIG.seed))


def test_after_a_damaged_checkpoint_the_next_one_is_saved_and_the_good_one_kept(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2)
    folder.checkpoint_path.write_bytes(b"not a checkpoint")
    folder.save(state(3))
    assert list(folder.saved()) == [(1, 0), (3, 0)]


def test_a_damaged_checkpoint_is_put_aside_when_it_is_loaded(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2)
    damaged = bytearray(folder.checkpoint_path.read_bytes())
    damaged[-1] ^= 1
    folder.checkpoint_path.write_bytes(damaged)
    assert list(folder.saved()) == [(1, 0), (2, 0)], "the header alone does not show it"
    assert folder.load((2, 0)) is None
    assert list(folder.saved()) == [(1, 0)]
    aside = folder.path / "quarantine" / "1-checkpoint.safetensors"
    assert aside.read_bytes() == damaged
    assert "checksum" in aside.with_name(f"{aside.name}.reason.txt").read_text()


def test_a_save_that_fails_while_writing_keeps_both_checkpoints(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2)
    before = contents(tmp_path)
    with pytest.raises(OSError, match="File too large"), files_of_at_most(500):
        folder.save(state(3))
    assert contents(tmp_path) == before


def test_a_kill_between_the_two_renames_of_a_save_loses_nothing(tmp_path, monkeypatch):
    folder = started(tmp_path, CONFIG, 1, 2)
    replace = os.replace

    def replace_once(source: Path, target: Path) -> None:
        if Path(target) == folder.checkpoint_path:
            raise Killed
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_once)
    with pytest.raises(Killed):
        folder.save(state(3))
    assert list(folder.saved()) == [(2, 0)]


def test_metrics_are_on_the_disk_before_the_checkpoint_that_relies_on_them(tmp_path, monkeypatch):
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("the system does not tell which file a descriptor belongs to")
    folder = started(tmp_path, CONFIG, 1)
    synced = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        synced.append((descriptors / str(descriptor)).readlink().name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    folder.save(state(2))
    metrics, checkpoint, names = synced
    assert metrics == "metrics.jsonl"
    assert "checkpoint.safetensors" in checkpoint
    assert names == folder.path.name


# Going back


@pytest.mark.parametrize(
    ("position", "epochs", "saved"),
    [
        ((2, 1), [0, 1, 2], [(1, 4), (2, 1)]),
        ((1, 4), [0, 1], [(1, 4)]),
        (None, [], [(1, 4), (2, 1)]),
    ],
)
def test_what_came_after_the_position_a_run_goes_on_from_is_dropped(
    tmp_path, position, epochs, saved
):
    folder = started(tmp_path, CONFIG, (1, 4), (2, 1))
    folder.rewind(position)
    assert [line["epoch"] for line in folder.metrics.lines()] == epochs
    assert list(folder.saved()) == saved
    for where, found in saved_states(folder).items():
        assert state_bits(found) == state_bits(state(where[0], CONFIG.seed, where[1]))
