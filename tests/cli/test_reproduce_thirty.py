"""`depthgauge reproduce thirty-epochs`, on a few points that stand for CIFAR-10."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli.audits import network_of
from cli.commands import Done, assert_bad_input, run
from cli.conftest import one_core
from training.small_runs import make_task

from depthgauge.auditing import gauge_readings
from depthgauge.published.figures import published
from depthgauge.published.thirty_epochs import RULES
from depthgauge.registry import TASKS
from depthgauge.tasks.registry import TaskEntry

COMMAND = ("reproduce", "thirty-epochs", "--threads", 1)
SMALL = ("--epochs", 1, "--width", 16, "--depth", 2, "--seeds", 42)
FIGURES = published().thirty_epochs


pytestmark = pytest.mark.slow


@pytest.fixture
def stand_in(monkeypatch):
    use_a_few_points(monkeypatch)


def use_a_few_points(patch: pytest.MonkeyPatch) -> None:
    task = replace(make_task(), name="cifar10")
    patch.setitem(TASKS.built_in, "cifar10", TaskEntry("a few points", lambda: task, 100, 256))


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """As if a tiny network, trained for one epoch on a few points, had been published."""
    folder = tmp_path_factory.mktemp("thirty") / "out"
    with pytest.MonkeyPatch.context() as patch, one_core():
        use_a_few_points(patch)
        for name, value in (("epochs", 1), ("width", 16), ("blocks", 2)):
            patch.setattr(FIGURES.config, name, value)
        patch.setattr(gauge_readings, "NULL_DRAWS", 3)
        done = run(*COMMAND, *SMALL, "--out", folder, "--json")
    assert done.status == 0, done.err
    return done, folder


def test_every_rule_of_the_experiment_is_audited(reproduced):
    document = reproduced[0].document
    assert {*document["verdicts"], *document["shallow"]} == set(RULES)
    assert {"ep", "ep[credit=displacement]", "bp[wide_block]"} < set(document["verdicts"])


def test_accuracies_beside_the_published_ones(reproduced):
    document = reproduced[0].document
    rows = {row["what"]: row for row in document["comparison"]["figures"]["accuracies"]}
    penalised = FIGURES.penalised
    expected = {"bp": FIGURES.bp, "dfa": FIGURES.dfa}
    expected |= {f"{rule}[penalty=0.01]": figure for rule, figure in penalised.items()}
    assert {what: row["published"] for what, row in rows.items()} == {
        what: figure[0] for what, figure in expected.items()
    }
    measured = {network["label"]: network["accuracy"] for network in document["networks"]}
    for what, row in rows.items():
        assert row["measured"] == measured[what]
        assert row["inside"] == (abs(row["difference"]) <= row["half_width"])


def test_alignment_is_that_of_the_record(reproduced):
    document = reproduced[0].document
    for part, reading in (
        ("deep_alignment", "alignment_published"),
        ("deep_perturbation", "perturbation_published"),
    ):
        rows = {row["what"]: row for row in document["comparison"]["figures"][part]}
        assert len(rows) == 3
        for what, row in rows.items():
            report = network_of(document, what, 42)["report"]
            assert row["measured"] == report["readings"][reading]["value"]
    seed = {row["what"]: row for row in document["comparison"]["one_seed"]}
    bridge = network_of(document, "state_bridge", 42)["accuracy"]
    assert seed["state_bridge: accuracy"]["measured"] == [bridge]


def test_penalties_are_in_the_recipe_of_their_runs_alone(reproduced):
    done, folder = reproduced
    for network in done.document["networks"]:
        path = folder / "runs" / network["source"]["run"] / "config.json"
        penalty = 0.01 if "penalty" in network["label"] else None
        assert json.loads(path.read_text())["recipe"].get("penalty") == penalty


def test_the_comparison_is_written_down(reproduced):
    done, folder = reproduced
    written = json.loads((folder / "comparison-thirty-epochs.json").read_text())
    assert written == done.document["comparison"]
    text = (folder / "comparison-thirty-epochs.md").read_text()
    for title in ("| accuracy, % |", "| deep Γ, as published, % |", "| deep ρ, % |", "| seed 42 |"):
        assert title in text
    assert "of 12 figures lie inside" in text


@pytest.mark.usefixtures("stand_in")
def test_the_defaults_are_the_published_experiment(tmp_path):
    plan = run(*COMMAND, "--dry-run", "--json").document
    config = plan["config"]
    assert (config["recipe"]["epochs"], config["task"]["name"]) == (30, "cifar10")
    assert (config["net"]["width"], config["net"]["blocks"]) == (256, 4)
    assert list(dict.fromkeys(entry["label"] for entry in plan["runs"])) == RULES
    assert {entry["k"] for entry in plan["runs"]} == {0, 1, 4}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stand_in")
def test_a_network_that_was_not_published_is_refused_before_training(tmp_path):
    done = run(*COMMAND, "--width", 8, "--out", tmp_path / "out")
    assert_bad_input(done, "--width 256", "30 epochs")
    assert not (tmp_path / "out").exists()
