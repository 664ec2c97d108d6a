"""The result of a run: that it is there means that the run is done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from store.small_runs_on_disk import (
    contents,
    done_with_network,
    finished,
    metrics_line,
    run_config,
    started,
)

from depthgauge.errors import UserError
from depthgauge.store.done_runs import read_done_run
from depthgauge.store.result_file import find_fault, result_of
from depthgauge.store.run_folder import RunFolder

CONFIG = run_config()
EPOCHS = CONFIG.recipe.epochs
LINES = [metrics_line(epoch) for epoch in range(EPOCHS + 1)]


class Killed(BaseException):
    """Stands for a kill: nothing that follows is executed."""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return done_with_network(tmp_path, CONFIG)


def result(**changes: Any) -> dict[str, Any]:
    return result_of(CONFIG, LINES, {"commit": None}) | changes


# What it says


def test_a_finished_run(tmp_path):
    folder = started(tmp_path, CONFIG, *range(EPOCHS + 1))
    provenance = {"commit": "abc", "wall_seconds": 1.5}
    folder.finish(provenance)
    assert folder.result == {
        "schema_version": 1,
        "identity": CONFIG.identity,
        "status": "finished",
        "final_acc": 0.5,
        "diverged_epoch": None,
        "final": metrics_line(EPOCHS),
        "provenance": provenance,
    }
    assert sorted(os.listdir(folder.path)) == [
        "checkpoint.safetensors",
        "config.json",
        "metrics.jsonl",
        "result.json",
    ]
    assert list(folder.saved()) == [(EPOCHS, 0)]
    assert folder.has_ended


def test_a_diverged_run_has_no_accuracy_but_the_epoch(tmp_path):
    found = finished(tmp_path, CONFIG, accuracy=0.1, diverged_in=2).result
    assert found is not None
    assert found["status"] == "diverged"
    assert found["final_acc"] is None
    assert found["diverged_epoch"] == 2


def test_there_is_no_result_where_epochs_are_lost():
    for lines in [[], LINES[:-1], LINES[1:], LINES[:1] + LINES[2:]]:
        with pytest.raises(
            UserError, match=f"epochs are missing in the metrics of the run {CONFIG.identity}"
        ):
            result_of(CONFIG, lines, {})


def test_a_run_whose_result_could_not_be_written_is_not_done(tmp_path, monkeypatch):
    folder = started(tmp_path, CONFIG, *range(EPOCHS + 1))

    def fail(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", fail)
        with pytest.raises(Killed):
            folder.finish({})
    assert folder.result is None
    assert not folder.has_ended
    assert max(folder.saved()) == (EPOCHS, 0)


def test_a_result_that_is_there_is_never_replaced(folder):
    """Whoever was taken for dead, and wakes up, may finish a run that others have finished."""
    before = contents(folder.path)
    folder.finish({"commit": "another"})
    assert contents(folder.path) == before


# What is wrong with it


def test_nothing_is_wrong_with_a_whole_result():
    assert find_fault(result(), CONFIG.identity) is None
    assert find_fault(result(more="from a later version"), CONFIG.identity) is None
    diverged = result(status="diverged", final_acc=None, diverged_epoch=1)
    assert find_fault(diverged, CONFIG.identity) is None


def test_another_schema_version_is_named():
    for version in [0, 2, "1.5"]:
        wrong = find_fault(result(schema_version=version), CONFIG.identity)
        assert wrong == f"has the schema version {version}; this version knows 1"


WRONG = [
    None,
    [],
    {},
    result(identity="of another run"),
    result(status="unknown"),
    result(final_acc="high"),
    result(final={}),
    result(provenance={}),
    {name: value for name, value in result().items() if name != "final_acc"},
    {name: value for name, value in result().items() if name != "schema_version"},
]


def test_what_is_not_whole_is_said():
    for document in WRONG:
        assert (
            find_fault(document, CONFIG.identity)
            == "is incomplete, or is the result of another run"
        )


DAMAGED = ["", '{"identity": "', "null", json.dumps(result(final=None))]


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_corrupt_result_is_named_and_left_alone(folder, damage):
    folder.result_path.write_text(damage)
    before = contents(folder.path)
    with pytest.raises(UserError) as caught:
        _ = folder.result
    assert str(folder.result_path) in str(caught.value)
    assert "nothing was changed" in str(caught.value)
    assert contents(folder.path) == before


# Mending


def test_there_is_nothing_to_mend_in_a_whole_result(folder):
    before = contents(folder.path)
    read_done_run(folder, network=False)
    assert contents(folder.path) == before


def test_there_is_nothing_to_mend_without_a_result(tmp_path):
    folder = started(tmp_path, CONFIG, 1)
    before = contents(folder.path)
    read_done_run(folder, network=False)
    assert contents(folder.path) == before


@pytest.mark.parametrize(
    ("damage", "reason"),
    [(damage, "is incomplete, or is the result of another run") for damage in DAMAGED]
    + [(json.dumps(result(schema_version=2)), "schema version 2")],
)
def test_a_result_that_cannot_be_used_goes_aside_and_the_run_is_finished_again(
    folder, damage, reason
):
    whole = folder.result
    folder.result_path.write_text(damage)
    read_done_run(folder, network=False)
    aside = folder.path / "quarantine"
    assert not folder.has_ended
    assert (aside / "1-result.json").read_text() == damage
    assert reason in (aside / "1-result.json.reason.txt").read_text()
    folder.finish({"commit": "abc"})
    assert folder.result == whole


def test_a_result_that_is_no_text_goes_aside_too(folder):
    folder.result_path.write_bytes(b"\xff\xfe\x00")
    read_done_run(folder, network=False)
    assert not folder.has_ended
    assert (folder.path / "quarantine" / "1-result.json").read_bytes() == b"\xff\xfe\x00"
