"""What the page's scripts know of runs and readings, beside the charts."""

from __future__ import annotations

import json
import math

import pytest
from report.studies import (
    CLIMB,
    ON_NOISE,
    make_audit,
    make_network,
    make_null,
    make_run,
    make_rungs,
    make_study,
)
from report.study_folders import write_audit, write_whole_study

from depthgauge.report.page.charts import page_charts
from depthgauge.report.page.page_data import page_data
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult


def data_of(study: StudyResult) -> dict:
    return json.loads(json.dumps(page_data(study, page_charts(study)), allow_nan=False))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> StudyResult:
    return load(write_whole_study(tmp_path_factory.mktemp("data") / "study", version="1.0"))


@pytest.fixture(scope="module")
def data(whole) -> dict:
    return data_of(whole)


def test_a_run_is_there_whatever_became_of_it(whole, data):
    assert list(data["runs"]) == [run.identity for run in whole.runs]
    shown = list(data["runs"].values())
    states = [run["state"] for run in shown]
    assert {"finished", "diverged", "failed", "waiting"} == set(states)
    failed = shown[states.index("failed")]
    assert (failed["reason"], failed["rule"], failed["rung"]) == ("no luck", "dfa", "1")
    for run, one in zip(whole.runs, shown, strict=True):
        assert one["config"] == run.config.model_dump(mode="json")
        assert one["provenance"] == run.provenance
        assert (one["accuracy"], one["seed"]) == (run.accuracy, run.config.seed)
        assert one["epochs"] == (run.epochs[-1]["epoch"] if run.epochs else 0)


def test_every_sign_leads_to_a_run_of_its_rule(data):
    seen = 0
    for rows in data["rows"].values():
        if not isinstance(rows.get("run"), list) or not isinstance(rows["rule"], list):
            continue
        for rule, run in zip(rows["rule"], rows["run"], strict=True):
            assert run is None or data["runs"][run]["rule"] == rule
            seen += run is not None
    assert seen > 10


def test_networks_that_were_read_lead_to_their_readings(whole, data):
    read = [network for rule in whole.rules.values() for network in rule.networks]
    assert list(data["readings"]) == [network.run for network in read if network.report]
    for readings in data["readings"].values():
        names = [reading["name"] for reading in readings]
        assert names
        assert len(set(names)) == len(names)
    dfa = whole["dfa"].networks[0]
    shown = {reading["name"]: reading for reading in data["readings"][dfa.run]}
    assert shown["D1 scale"]["value"] == 900
    assert shown["Γ alignment"]["per_layer"] == list(dfa.report.alignment.per_layer)


def test_an_audit_without_a_study_has_charts_and_no_windows(tmp_path):
    data = data_of(load(write_audit(tmp_path / "a", {"fa": {1: (0.5, 0.4)}})))
    assert (data["runs"], data["readings"]) == ({}, {})
    assert data["rows"]["audit-D3:seeds"]["value"] == [10]
    assert data["rows"]["audit-D3:seeds"]["run"] == [None]


def test_what_is_not_finite_is_null():
    run = make_run("dfa", 1)
    grown = make_network("dfa", 1, norms=(1.0, 1.0, math.inf), growth=math.inf, run=run.identity)
    data = data_of(make_study(run, audit=make_audit(grown)))
    shown = {reading["name"]: reading for reading in data["readings"][run.identity]}
    assert shown["D1 scale"]["value"] is None
    assert data["rows"]["audit-D1:fates"]["words"] == ["✕ at ∞"]


def test_swap_twins_have_windows_and_are_no_rungs():
    """The hollow signs of the ladder; no chart of training or layers takes one for a rung."""
    study = make_study(*make_rungs("bp", CLIMB, ON_NOISE))
    data = data_of(study)
    twins = {run.identity for run in study.runs if not run.config.is_rung}
    assert {data["runs"][run]["rung"] for run in twins} == {
        "1 (block 1 on noise)",
        "2 (block 0 on noise)",
    }
    assert set(data["rows"]["ladder-chart:twins"]["run"]) <= twins
    for name, rows in data["rows"].items():
        if name.startswith(("layers-", "training-")) and "run" in rows:
            assert not twins & set(json.dumps(rows["run"]).split('"'))


def test_the_null_of_a_network_is_in_its_chart():
    null = make_null([0.123456789, -0.1], 0.25, "specific", ("absent", "specific"))
    study = make_study(audit=make_audit(make_network("dfa", gamma=(None, 0.25), null=null)))
    rows = data_of(study)["rows"]
    assert rows["null-0:observed"]["value"] == [0.25]
    assert "block 0 specific" in rows["null-0:observed"]["says"][0]
    assert rows["layers-gamma:bands"]["low"] == [[-0.1, 0, 0.1][: len(null.per_layer)]]
