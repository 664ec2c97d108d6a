"""`depthgauge reproduce memo-ladder`, on a few points that stand for CIFAR-10."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from cli.commands import assert_bad_input, run
from training.small_runs import make_task

from depthgauge.published.figures import published
from depthgauge.registry import TASKS
from depthgauge.tasks.registry import TaskEntry

COMMAND = ("reproduce", "memo-ladder", "--width", "512", "--depth", "2", "--threads", "1")
SMALL = ("--rules", "bp", "dfa", "--k", "0", "2", "--seeds", "1", "--epochs", "1")


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(make_task(), name="cifar10")
    monkeypatch.setitem(
        TASKS.built_in, "cifar10", TaskEntry("a few points", lambda: task, 100, 256)
    )


@pytest.fixture
def as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the published ladder had been trained for one epoch too."""
    monkeypatch.setattr(published().ladder.networks["d512_L2"].config, "epochs", 1)


def test_measured_beside_published(tmp_path, as_published):
    done = run(*COMMAND, *SMALL, "--out", tmp_path / "out", "--json")
    assert (done.status, done.err) == (0, "")
    comparison = done.document["comparison"]
    assert comparison == json.loads((tmp_path / "out" / "comparison-memo-ladder.json").read_text())
    assert [rung["what"] for rung in comparison["figures"]["rungs"]] == [
        "bp k=0",
        "bp k=2",
        "dfa k=0",
        "dfa k=2",
    ]
    measured = {
        (label, rung["k"]): rung["mean"]
        for label, rungs in done.document["rules"].items()
        for rung in rungs
    }
    for rung in comparison["figures"]["rungs"]:
        rule, k = rung["what"].split(" k=")
        assert rung["measured"] == measured[rule, int(k)]
        assert rung["published"] == published().ladder.networks["d512_L2"].rules[rule][int(k)].mean
        assert rung["inside"] == (abs(rung["difference"]) <= rung["half_width"])
    text = (tmp_path / "out" / "comparison-memo-ladder.md").read_text()
    assert "| bp k=2 |" in text
    assert "of 4 rungs" in text


def test_other_epochs_are_said_not_to_be_alike(tmp_path):
    done = run(*COMMAND, *SMALL, "--out", tmp_path / "out")
    assert done.status == 0
    assert "not alike" in done.out
    assert "epochs 1 instead of 100" in done.out.replace("\n", " ")
    comparison = json.loads((tmp_path / "out" / "comparison-memo-ladder.json").read_text())
    assert {rung["inside"] for rung in comparison["figures"]["rungs"]} == {None}


@pytest.mark.parametrize("planned", [(), ("--dry-run",)])
def test_a_network_that_was_not_published_is_refused_before_anything_is_trained(tmp_path, planned):
    done = run("reproduce", "memo-ladder", "--width", 8, "--depth", 2, *SMALL, *planned)
    assert_bad_input(done, "--width 8 --depth 2", "--width 512 --depth 2")
    assert os.listdir(tmp_path) == []


def test_the_published_settings_are_the_defaults(tmp_path):
    done = run("reproduce", "memo-ladder", "--dry-run", "--json")
    config = done.document["config"]
    assert config["net"]["width"] == 256
    assert config["net"]["blocks"] == 4
    assert config["recipe"] == {
        "epochs": 100,
        "batch_size": 128,
        "learning_rate": 1e-3,
        "weight_decay": 0.01,
        "dtype": "float32",
    }
    assert len(done.document["runs"]) == 3 * 5 * 3
    assert {one["seed"] for one in done.document["runs"]} == {42, 123, 456}
    assert os.listdir(tmp_path) == []


def test_an_unknown_experiment_is_bad_input():
    assert_bad_input(run("reproduce", "everything"), "everything", "memo-ladder")
