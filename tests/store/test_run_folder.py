"""The folder of one run: metrics, checkpoints, and the result that marks it done."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from store.small_runs_on_disk import (
    contents,
    finished,
    metrics_line,
    run_config,
    saved_states,
    started,
    state,
    state_bits,
)

from depthgauge.errors import UserError
from depthgauge.store.run_folder import RunFolder, load_states, newest_common_epoch
from depthgauge.training.engine import RunState

CONFIG = run_config()


def epochs_of(folder: RunFolder) -> list[int]:
    return [line["epoch"] for line in folder.metrics()]


class Killed(BaseException):
    """Stands for a kill: nothing that follows is executed."""


# The folder


def test_the_folder_is_named_by_the_hash_and_says_what_it_is_for(tmp_path):
    folder = started(tmp_path, CONFIG)
    assert folder.path == tmp_path / CONFIG.identity
    config = json.loads((folder.path / "config.json").read_text())
    assert config == CONFIG.model_dump(mode="json")


def test_creating_it_again_keeps_what_is_there(tmp_path):
    folder = started(tmp_path, CONFIG, 0, 1)
    before = {name: data for name, (_, data) in contents(tmp_path).items()}
    RunFolder(tmp_path, CONFIG).create()
    assert {name: data for name, (_, data) in contents(tmp_path).items()} == before
    assert folder.result is None


# Metrics


def test_metrics_come_back_in_order_of_epochs(tmp_path):
    folder = started(tmp_path, CONFIG)
    assert folder.metrics() == []
    lines = [metrics_line(epoch, accuracy=0.1 * epoch) for epoch in range(4)]
    for line in lines:
        folder.append_metrics(line)
    assert folder.metrics() == lines


def test_the_last_line_of_an_epoch_counts(tmp_path):
    folder = started(tmp_path, CONFIG)
    for epoch, accuracy in ((0, 0.1), (1, 0.2), (2, 0.3), (1, 0.7)):
        folder.append_metrics(metrics_line(epoch, accuracy))
    assert [line["accuracy"] for line in folder.metrics()] == [0.1, 0.7, 0.3]


def test_a_line_cut_short_at_any_character_does_not_count(tmp_path):
    folder = started(tmp_path, CONFIG)
    folder.append_metrics(metrics_line(0))
    whole = folder.metrics_path.read_text()
    last = json.dumps(metrics_line(1))
    for length in range(len(last)):
        folder.metrics_path.write_text(whole + last[:length])
        assert epochs_of(folder) == [0], last[:length]
    folder.metrics_path.write_text(whole + last)
    assert epochs_of(folder) == [0, 1]


def test_after_a_torn_line_a_run_goes_on_with_whole_ones(tmp_path):
    folder = started(tmp_path, CONFIG)
    for epoch in range(3):
        folder.append_metrics(metrics_line(epoch))
    with folder.metrics_path.open("a") as handle:
        handle.write('{"epoch": 3, "acc')
    folder.save(state(1, CONFIG.seed))
    folder.rewind(1)
    assert epochs_of(folder) == [0, 1]
    folder.append_metrics(metrics_line(2, accuracy=0.9))
    assert folder.metrics() == [metrics_line(0), metrics_line(1), metrics_line(2, accuracy=0.9)]
    assert len(folder.metrics_path.read_text().splitlines()) == 3


@pytest.mark.parametrize(("epoch", "kept"), [(None, []), (0, [0]), (2, [0, 1, 2]), (9, [0, 1, 2])])
def test_metrics_are_kept_until_the_epoch_of_the_checkpoint(tmp_path, epoch, kept):
    folder = started(tmp_path, CONFIG)
    for number in range(3):
        folder.append_metrics(metrics_line(number))
    if epoch is not None:
        folder.save(state(epoch, CONFIG.seed))
    folder.rewind(epoch)
    assert epochs_of(folder) == kept


def test_keeping_metrics_does_not_change_what_is_kept(tmp_path):
    folder = started(tmp_path, CONFIG)
    line = metrics_line(0) | {"accuracy": 0.1 + 0.2, "h_norm": [math.pi * 1e-300, 1e308]}
    folder.append_metrics(line)
    before = folder.metrics_path.read_bytes()
    folder.save(state(0, CONFIG.seed))
    folder.rewind(0)
    assert folder.metrics_path.read_bytes() == before
    assert folder.metrics() == [line]


def test_what_is_not_finite_becomes_null(tmp_path):
    folder = started(tmp_path, CONFIG)
    nan, inf = float("nan"), float("inf")
    folder.append_metrics(
        metrics_line(0) | {"train_loss": nan, "h_norm": [1.0, inf], "more": {"a": [-inf, 2]}}
    )
    (line,) = folder.metrics()
    assert line["train_loss"] is None
    assert line["h_norm"] == [1.0, None]
    assert line["more"] == {"a": [None, 2]}


VALUES = st.recursive(
    st.floats() | st.integers() | st.booleans() | st.none() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def nulled(value: Any) -> Any:
    """What json makes of it once every NaN and infinity is null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


@pytest.fixture(scope="module")
def one_folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return started(tmp_path_factory.mktemp("runs"), CONFIG)


@given(values=st.lists(VALUES, max_size=3))
def test_every_line_is_one_line_of_strict_json(one_folder, values):
    one_folder.metrics_path.unlink(missing_ok=True)
    for epoch, value in enumerate(values):
        one_folder.append_metrics({"epoch": epoch, "value": value})
    found = [line["value"] for line in one_folder.metrics()]
    assert found == [nulled(value) for value in values]


# Checkpoints


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path):
    folder = started(tmp_path, CONFIG, 0)
    folder.save(state(1))
    found = saved_states(RunFolder(tmp_path, CONFIG))[1]
    assert state_bits(found) == state_bits(state(1))
    assert found.feedback
    assert found.moments


def test_a_view_into_a_larger_tensor_is_saved_alone(tmp_path):
    folder = started(tmp_path, CONFIG, 0)
    stacked = torch.randn(50, 4, 3, generator=torch.Generator().manual_seed(0))
    folder.save(RunState(1, {"w": stacked[7]}, {"B": stacked[8].T}))
    found = saved_states(folder)[1]
    assert torch.equal(found.parameters["w"], stacked[7])
    assert torch.equal(found.feedback["B"], stacked[8].T)
    assert folder.checkpoint_path.stat().st_size < stacked.nbytes / 2


def test_without_moments_there_are_none(tmp_path):
    folder = started(tmp_path, CONFIG, 0)
    whole = state(1)
    folder.save(RunState(1, whole.parameters, whole.feedback))
    assert saved_states(folder)[1].moments == {}


def test_the_checkpoint_before_the_newest_is_kept_and_no_more(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2, 3)
    assert {epoch: state_bits(found) for epoch, found in saved_states(folder).items()} == {
        epoch: state_bits(state(epoch, CONFIG.seed)) for epoch in (2, 3)
    }
    assert sorted(os.listdir(folder.path)) == [
        "checkpoint.previous.safetensors",
        "checkpoint.safetensors",
        "config.json",
        "metrics.jsonl",
    ]


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 100, -1])
def test_a_corrupt_newest_checkpoint_falls_back_to_the_one_before(tmp_path, kept):
    folder = started(tmp_path, CONFIG, 1, 2)
    whole = folder.checkpoint_path.read_bytes()
    folder.checkpoint_path.write_bytes(whole[:kept])
    assert list(folder.saved()) == [1]
    assert state_bits(saved_states(folder)[1]) == state_bits(state(1, CONFIG.seed))


def test_both_corrupt_is_no_checkpoint(tmp_path):
    folder = started(tmp_path, CONFIG, 1, 2)
    folder.checkpoint_path.write_bytes(b"not a checkpoint")
    folder.previous_path.write_bytes(b"")
    assert folder.saved() == {}
    assert newest_common_epoch([folder]) is None


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [
        ({"parameters/w": torch.ones(2)}, {"schema_version": "1"}),
        ({"parameters/w": torch.ones(2)}, {"epoch": "three"}),
        ({"parameters/w": torch.ones(2)}, None),
    ],
)
def test_a_tensor_file_of_another_kind_is_no_checkpoint(tmp_path, tensors, metadata):
    folder = started(tmp_path, CONFIG, 1)
    save_file(tensors, folder.checkpoint_path, metadata)
    assert folder.saved() == {}


def test_a_save_that_fails_while_writing_keeps_both_checkpoints(tmp_path, monkeypatch):
    folder = started(tmp_path, CONFIG, 1, 2)
    before = contents(tmp_path)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("depthgauge.store.run_folder.save_file", fail)
    with pytest.raises(OSError, match="no space left"):
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
    assert list(folder.saved()) == [2]


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
    metrics, checkpoint = synced
    assert metrics == "metrics.jsonl"
    assert "checkpoint.safetensors" in checkpoint


# What a cohort continues from


def test_a_cohort_continues_from_the_newest_epoch_that_all_have(tmp_path):
    folders = [
        started(tmp_path, run_config(seed=1), 1, 2, 3),
        started(tmp_path, run_config(seed=2), 1, 2),
    ]
    assert newest_common_epoch(folders) == 2
    assert [state_bits(own) for own in load_states(folders, 2)] == [
        state_bits(state(2, seed=1)),
        state_bits(state(2, seed=2)),
    ]


def test_all_saved_means_the_newest(tmp_path):
    folders = [started(tmp_path, run_config(seed=seed), 1, 2, 3) for seed in (1, 2, 3)]
    assert newest_common_epoch(folders) == 3


def test_a_run_without_a_checkpoint_makes_the_cohort_begin_anew(tmp_path):
    first = started(tmp_path, run_config(seed=1), 1, 2)
    assert newest_common_epoch([first, started(tmp_path, run_config(seed=2))]) is None


def test_one_corrupt_newest_checkpoint_takes_the_cohort_one_epoch_back(tmp_path):
    folders = [started(tmp_path, run_config(seed=seed), 1, 2, 3) for seed in (1, 2)]
    folders[1].checkpoint_path.write_bytes(b"\0" * 64)
    assert newest_common_epoch(folders) == 2


def test_two_kills_between_two_saves_of_the_same_epoch_lose_one_epoch_only(tmp_path):
    first = started(tmp_path, run_config(seed=1), 1, 2, 3)
    second = started(tmp_path, run_config(seed=2), 1, 2)
    assert newest_common_epoch([first, second]) == 2
    first.save(state(3, seed=1))  # trained again from epoch 2, and killed at the same place
    assert newest_common_epoch([first, second]) == 2


# The result


def test_a_finished_run(tmp_path):
    folder = started(tmp_path, CONFIG, *range(CONFIG.recipe.epochs + 1))
    provenance = {"commit": "abc", "wall_seconds": 1.5}
    folder.finish(provenance)
    assert folder.result == {
        "schema_version": 1,
        "identity": CONFIG.identity,
        "status": "finished",
        "final_acc": 0.5,
        "diverged_epoch": None,
        "final": metrics_line(CONFIG.recipe.epochs),
        "provenance": provenance,
    }
    assert sorted(os.listdir(folder.path)) == [
        "checkpoint.safetensors",
        "config.json",
        "metrics.jsonl",
        "result.json",
    ]
    assert list(folder.saved()) == [3]


def test_a_diverged_run_has_no_accuracy_but_the_epoch(tmp_path):
    result = finished(tmp_path, CONFIG, accuracy=0.1, diverged_in=2).result
    assert result is not None
    assert result["status"] == "diverged"
    assert result["final_acc"] is None
    assert result["diverged_epoch"] == 2


def test_a_run_whose_result_could_not_be_written_is_not_done(tmp_path, monkeypatch):
    folder = started(tmp_path, CONFIG, *range(CONFIG.recipe.epochs + 1))

    def fail(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(Killed):
            folder.finish({})
    assert folder.result is None
    assert max(folder.saved()) == CONFIG.recipe.epochs


@pytest.mark.parametrize(
    "damage",
    [
        "",
        '{"identity": "',
        "[]",
        "null",
        '{"identity": "of another run"}',
        "{}",
    ],
)
def test_a_corrupt_result_is_named_and_left_alone(tmp_path, damage):
    folder = finished(tmp_path, CONFIG, accuracy=0.5)
    folder.result_path.write_text(damage)
    before = contents(tmp_path)
    with pytest.raises(UserError) as caught:
        _ = folder.result
    assert str(folder.result_path) in str(caught.value)
    assert "nothing was changed" in str(caught.value)
    assert contents(tmp_path) == before


def test_a_result_without_its_figures_is_corrupt_too(tmp_path):
    folder = finished(tmp_path, CONFIG, accuracy=0.5)
    folder.result_path.write_text(json.dumps({"identity": CONFIG.identity}))
    with pytest.raises(UserError, match=r"result\.json"):
        _ = folder.result


def test_two_stops_in_a_row_while_saving_lose_no_more_than_one_checkpoint(tmp_path):
    configs = [run_config(seed=seed) for seed in (1, 2)]
    first, second = (started(tmp_path, config, 1, 2) for config in configs)
    first.save(state(3, 1))
    assert newest_common_epoch([first, second]) == 2
    for folder in (first, second):
        folder.rewind(2)
    first.save(state(4, 1))
    assert newest_common_epoch([first, second]) == 2
