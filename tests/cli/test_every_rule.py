"""Every built-in rule, from the ladder to the audit, on the embedded task."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from cli.audits import readings_of, run_files
from cli.commands import run
from cli.conftest import one_core

from depthgauge import registry
from depthgauge.auditing import gauge_readings
from depthgauge.rules.choice import choose_rule

NARROW = {
    "state_bridge": "state_bridge[hidden=8]",
    "credit_bridge": "credit_bridge[hidden=8,copies=2]",
    "ep": "ep[steps=2]",
}
RULES = [NARROW.get(name, name) for name in registry.RULES.built_in]
LABELS = [choose_rule(rule).label for rule in RULES]
GRID = ("--task", "teacher", "--width", 8, "--depth", 2, "--epochs", 2, "--batch-size", 1000)
MORE = ("--seeds", 1, "--threads", 1, "--no-floors", "--json")
WITHOUT_FEEDBACK = {"bp", "ep[steps=2]", "noise"}


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A ladder of all rules, then their audit in the same folder."""
    folder: Path = tmp_path_factory.mktemp("every") / "study"
    more = (*MORE, "--out", folder, "--rules", *RULES)
    with pytest.MonkeyPatch.context() as patch, one_core():
        patch.setattr(gauge_readings, "NULL_DRAWS", 3)
        patch.setattr(gauge_readings, "SAMPLES", 256)
        ladder = run("ladder", *GRID, *more)
        before = run_files(folder)
        after = run("audit", *GRID, *more)
    assert (ladder.status, after.status) == (0, 0), ladder.err + after.err
    return {
        "ladder": ladder.document,
        "audit": after.document,
        "trained": (before, run_files(folder)),
    }


@pytest.mark.parametrize("label", LABELS)
def test_it_climbs_the_ladder(audited, label):
    rungs = audited["ladder"]["rules"][label]
    assert [rung["k"] for rung in rungs] == [0, 1, 2]
    for rung in rungs:
        assert rung["diverged"] == {}
        assert 0 < rung["accuracies"]["1"] < 1


@pytest.mark.parametrize("label", LABELS)
def test_it_is_audited(audited, label):
    document = audited["audit"]
    assert document["verdicts"][label]["seeds"] == [1]
    assert document["verdicts"][label]["diverged_seeds"] == []
    readings = readings_of(document, label)
    for name in ("alignment", "alignment_published", "perturbation", "nudging"):
        assert math.isfinite(readings[name]["value"]), name
    assert len(readings["alignment"]["per_layer"]) == 3
    assert ("null" in readings) == (label not in WITHOUT_FEEDBACK)


def test_the_audit_trains_nothing_again(audited):
    before, after = audited["trained"]
    configs = [json.loads(content) for name, (_, content) in before.items() if "config" in name]
    assert sum("intervention" not in config for config in configs) == 3 * len(RULES)
    assert after == before


def test_different_rules_train_differently(audited):
    ends = {
        network["label"]: tuple(network["report"]["residual_norms"])
        for network in audited["audit"]["networks"]
    }
    assert len(set(ends.values())) == len(RULES)
