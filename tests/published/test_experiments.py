"""The published experiments that a study repeats, and the comparison with them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from golden.facts import REPRODUCTION
from published.audited_studies import audited_study, network
from results.written_studies import write_study

from depthgauge import StudyConfig, reproduce
from depthgauge.config import NetConfig, Recipe, TaskConfig
from depthgauge.errors import OptionError
from depthgauge.published.compare import PublishedComparison
from depthgauge.published.experiments import comparisons_with_published, find_experiment
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult

CIFAR = TaskConfig(name="cifar10", checksum="0" * 64)
NET = NetConfig(width=256, blocks=4)
SAME = {"task": CIFAR, "net": NET, "recipe": Recipe(epochs=100)}


def compared(study: StudyResult) -> dict[str, PublishedComparison]:
    return {one.experiment: one for one in comparisons_with_published(study)}


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["what"]: row for row in rows}


@pytest.mark.parametrize(
    ("name", "experiment", "file", "parts"),
    [
        ("memo-ladder", "memo-ladder", "comparison.json", ("rungs", "cross_checks")),
        ("main-audit", "main-audit", "audit_comparison.json", ("accuracies",)),
        (
            "rules-thirty-epochs",
            "thirty-epochs",
            "audit_comparison.json",
            ("accuracies", "deep_alignment", "deep_perturbation"),
        ),
    ],
)
def test_reproduced_experiments_agree_as_their_own_command_once_said(name, experiment, file, parts):
    folder = REPRODUCTION / f"{name}-d256-L4"
    expected = json.loads((folder / file).read_text())
    found = compared(load(folder))[experiment].to_dict()
    assert list(found["unlike"]) == expected["unlike"]
    for part in parts:
        rows = by_name(found["figures"][part])
        assert rows.keys() == by_name(expected[part]).keys()
        for what, row in by_name(expected[part]).items():
            assert rows[what] == pytest.approx(row)


def test_the_audit_of_thirty_epochs_is_not_the_main_audit():
    names = {
        name: {*compared(load(REPRODUCTION / f"{name}-d256-L4"))} - {"memo-ladder"}
        for name in ("memo-ladder", "main-audit", "rules-thirty-epochs")
    }
    assert names == {
        "memo-ladder": set(),
        "main-audit": {"main-audit"},
        "rules-thirty-epochs": {"thirty-epochs"},
    }


@pytest.mark.parametrize(
    "other",
    [
        {"task": TaskConfig(name="teacher", checksum="0" * 64)},
        {"net": NetConfig(width=128, blocks=4)},
        {"net": NetConfig(width=256, blocks=4, residual_add=False)},
        {"net": NetConfig(name="other", width=256, blocks=4)},
    ],
)
def test_another_task_or_network_has_none(tmp_path, other):
    rungs = {"dfa": {0: {42: 0.3}, 4: {42: 0.3}}}
    assert "memo-ladder" in compared(load(write_study(tmp_path / "same", rungs, **SAME)))
    different = load(write_study(tmp_path / "other", rungs, **SAME | other))
    audit = audited_study(network("dfa", 0.3), epochs=100).audit
    assert compared(replace(different, audit=audit)) == {}


@pytest.mark.parametrize("rungs", [{}, {"dfa": {4: {42: None}}}, {"drtp": {4: {42: 0.3}}}])
def test_a_study_without_a_rung_that_was_published_has_none(tmp_path, rungs):
    assert compared(load(write_study(tmp_path / "s", rungs, **SAME))) == {}


def test_controls_do_not_count_as_rungs(tmp_path):
    rungs = {"dfa": {4: {42: 0.3}}, "dfa[shallow]": {0: {42: 0.2}}, "dfa[wide_block]": {1: {42: 1}}}
    found = compared(load(write_study(tmp_path / "s", rungs, **SAME)))["memo-ladder"]
    assert [one.what for one in found.figures["rungs"]] == ["dfa k=4"]


@pytest.mark.parametrize("name", ["memo-ladder", "main-audit", "thirty-epochs"])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("task", "digits"),
        ("task", ([[0.0]], [0], [[0.0]], [0])),
        ("thresholds", {"growth": 5}),
        ("strict", True),
        ("checkpoints", "somewhere"),
        ("select", "validation"),
    ],
)
def test_an_option_without_use_is_refused(tmp_path, monkeypatch, name, option, value):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=f"{name} takes no {option}, .* leave {option} out"):
        reproduce(name, **{option: value})
    assert not list(tmp_path.iterdir())


def test_an_option_without_use_is_refused_in_a_configuration_too():
    with pytest.raises(OptionError, match="memo-ladder takes no strict"):
        reproduce("memo-ladder", StudyConfig(strict=True))


@pytest.mark.parametrize("name", ["memo-ladder", "main-audit", "thirty-epochs"])
def test_published_runs_come_without_floors_unless_they_are_asked_for(name):
    experiment = find_experiment(name)
    assert experiment.configure(StudyConfig()).floors is False
    assert experiment.configure(StudyConfig(floors=True)).floors is True


def test_the_task_of_the_experiment_may_be_named():
    with pytest.raises(OptionError, match="main-audit takes no --k"):
        reproduce("main-audit", task="cifar10", strict=False, k=[1])
