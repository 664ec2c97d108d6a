"""What was published of the same experiment, found for a study."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from studies.compared_studies import write_study

from depthgauge.config import NetConfig, Recipe, TaskConfig
from depthgauge.studies.counterparts import (
    audit_counterpart,
    ladder_counterpart,
    thirty_counterpart,
)
from depthgauge.studies.gathered import Gathered, gather
from depthgauge.studies.published import published_ladder

REPRODUCTION = Path(__file__).parents[2] / "reproduction"
CIFAR = TaskConfig(name="cifar10", checksum="0" * 64)
PUBLISHED_NET = NetConfig(width=256, blocks=4)


def reproduced(name: str) -> Gathered:
    return gather(REPRODUCTION / name)


def saved(name: str, file: str) -> dict:
    return json.loads((REPRODUCTION / name / file).read_text())


def by_name(rows: list[dict]) -> dict[str, dict]:
    return {row["what"]: row for row in rows}


def test_the_published_ladder_is_compared_as_its_own_command_does():
    name = "memo-ladder-d256-L4"
    found, expected = ladder_counterpart(reproduced(name)), saved(name, "comparison.json")
    assert found is not None
    assert found["unlike"] == expected["unlike"]
    for part in ("rungs", "cross_checks"):
        assert by_name(found[part]) == by_name(expected[part])
    assert len(expected["rungs"]) == 15


def test_the_published_audit_is_compared_as_its_own_command_does():
    name = "main-audit-d256-L4"
    study = reproduced(name)
    assert audit_counterpart(study) == saved(name, "audit_comparison.json")
    assert thirty_counterpart(study) is None


def test_the_published_thirty_epochs_are_compared_as_their_own_command_does():
    name = "rules-thirty-epochs-d256-L4"
    study = reproduced(name)
    assert thirty_counterpart(study) == saved(name, "audit_comparison.json")
    assert audit_counterpart(study) is None


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
    same = {"task": CIFAR, "net": PUBLISHED_NET, "recipe": Recipe(epochs=2)}
    assert ladder_counterpart(gather(write_study(tmp_path / "same", rungs, **same))) is not None
    different = gather(write_study(tmp_path / "other", rungs, **same | other))
    assert ladder_counterpart(different) is None
    audited = replace(different, audit=reproduced("main-audit-d256-L4").audit)
    assert audit_counterpart(audited) is None
    base = different.base | {"recipe": different.base["recipe"] | {"epochs": 30}}
    assert thirty_counterpart(replace(audited, base=base)) is None


def test_what_is_not_like_the_published_recipe_is_said(tmp_path):
    rungs = {"dfa": {4: {42: 0.3}}}
    folder = write_study(
        tmp_path / "s", rungs, task=CIFAR, net=PUBLISHED_NET, recipe=Recipe(epochs=2)
    )
    found = ladder_counterpart(gather(folder))
    assert found is not None
    assert found["unlike"] == ["epochs 2 instead of 100"]
    (rung,) = found["rungs"]
    assert (rung["published"], rung["inside"]) == (published_ladder(256, 4)["dfa"]["4"][0], None)


@pytest.mark.parametrize("rungs", [{}, {"dfa": {4: {42: None}}}, {"drtp": {4: {42: 0.3}}}])
def test_a_study_without_a_rung_that_was_published_has_none(tmp_path, rungs):
    study = gather(write_study(tmp_path / "s", rungs, task=CIFAR, net=PUBLISHED_NET))
    assert ladder_counterpart(study) is None


def test_controls_do_not_count_as_rungs(tmp_path):
    rungs = {"dfa": {4: {42: 0.3}}, "dfa[shallow]": {0: {42: 0.2}}, "dfa[wide_block]": {1: {42: 1}}}
    study = gather(write_study(tmp_path / "s", rungs, task=CIFAR, net=PUBLISHED_NET))
    found = ladder_counterpart(study)
    assert found is not None
    assert list(by_name(found["rungs"])) == ["dfa k=4"]


def test_without_an_audit_there_is_nothing_to_compare_it_with():
    study = reproduced("memo-ladder-d256-L4")
    assert (audit_counterpart(study), thirty_counterpart(study)) == (None, None)
