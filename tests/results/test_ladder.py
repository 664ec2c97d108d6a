"""`ladder.json`: what is written is read back, also what earlier versions wrote."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from golden.facts import REPRODUCTION
from results.written_studies import write_study

from depthgauge.errors import UserError
from depthgauge.results.ladder import Ladder, read_ladder
from depthgauge.results.load import load

LADDERS = sorted(REPRODUCTION.rglob("ladder.json"))


def test_a_ladder_is_written_and_read_back(tmp_path):
    rungs = {0: {1: 0.2, 2: 0.4}, 1: {1: None, 2: None}, 2: {1: 0.5, 2: None}}
    folder = write_study(tmp_path / "study", {"dfa": rungs, "bp": {2: {7: 0.9}}})
    ladder = load(folder).ladder({"version": "0"})
    (folder / "ladder.json").write_text(ladder.model_dump_json())
    assert read_ladder(folder / "ladder.json") == ladder
    assert (ladder.ks, ladder.seeds) == ([0, 1, 2], [1, 2, 7])
    zero, one, two = ladder.rules["dfa"]
    assert (zero.mean, zero.std) == (
        pytest.approx(0.3),
        pytest.approx(statistics.stdev([0.2, 0.4])),
    )
    assert (one.accuracies, one.diverged) == ({}, {1: 1, 2: 1})
    assert (two.accuracies, two.lost, two.std) == ({1: 0.5}, 1, None)


@pytest.mark.parametrize("path", LADDERS, ids=lambda path: path.parent.name)
def test_a_ladder_of_the_first_version_has_its_numbers_and_can_be_written_again(path: Path):
    old, ladder = json.loads(path.read_text()), read_ladder(path)
    assert old["schema_version"] == 1
    assert Ladder.model_validate_json(ladder.model_dump_json()) == ladder
    assert ladder.chance == old["config"]["chance"]
    found = {
        label: {str(rung.k): (rung.mean, rung.std, rung.spread.n) for rung in rungs}
        for label, rungs in ladder.rules.items()
    }
    assert found == {
        label: {
            k: (pytest.approx(one["mean"]), pytest.approx(one["std"]), one["n"])
            for k, one in rungs.items()
        }
        for label, rungs in old["summary"].items()
    }
    runs = {run for rungs in ladder.rules.values() for rung in rungs for run in rung.runs.values()}
    assert all((path.parent / "runs" / run).is_dir() for run in runs)


def test_a_run_that_diverged_in_the_first_version():
    run = {"final_acc": None, "diverged_epoch": 3, "run": "runs/a"}
    fine = {"final_acc": 0.5, "run": "runs/b"}
    old = json.loads(LADDERS[0].read_text()) | {"results": {"dfa": {"10": {"1": run, "2": fine}}}}
    (rung,) = Ladder.model_validate(old).rules["dfa"]
    assert (rung.k, rung.accuracies, rung.runs) == (10, {2: 0.5}, {2: "b"})
    assert (rung.diverged, rung.lost) == ({1: 3}, 1)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"schema_version": 1, "config": 1, "results": 2}']
)
def test_a_file_that_is_no_ladder_is_named(tmp_path, text):
    path = tmp_path / "ladder.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"ladder\.json"):
        read_ladder(path)
