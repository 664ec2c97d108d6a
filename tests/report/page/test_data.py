"""What the charts are drawn from."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import fmean

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

from depthgauge.report.page.data import page_data
from depthgauge.report.palette import looks
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def data_of(study: StudyResult) -> dict:
    return json.loads(json.dumps(page_data(study), allow_nan=False))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> StudyResult:
    return load(write_whole_study(tmp_path_factory.mktemp("data") / "study", version="1.0"))


@pytest.fixture(scope="module")
def data(whole) -> dict:
    return data_of(whole)


def test_what_all_charts_share(data):
    assert (data["blocks"], data["chance"]) == (2, 0.125)
    assert data["marks"] == {"D1": "x-thin", "D2": "cross-thin"}


def test_each_diagnostic_has_the_facts_of_its_chart(data):
    panels = {panel["diagnostic"]: panel for panel in data["panels"]}
    assert list(panels) == ["D1", "D2", "D2s", "D3"]
    assert panels["D3"] == {
        "id": "audit-D3",
        "diagnostic": "D3",
        "name": "D3 depth utility",
        "axis": "accuracy − frozen (points)",
        "word": "fires",
        "quantity": "depth_gain",
        "limit": 2.0,
        "fires": "below",
        "log": False,
        "factor": 100,
        "unit": "points",
    }
    assert [panels[name]["limit"] for name in ("D1", "D2", "D2s")] == [50.0, 1.28e-5, 0.3]
    assert [(one["quantity"], one["diagnostic"], one["log"]) for one in data["recorded"]] == [
        ("growth", "D1", True),
        ("gradient", "D2", True),
        ("error_share", "D2", True),
    ]


def test_limits_are_those_of_the_audit(whole):
    moved = whole.audit.model_copy(update={"thresholds": Thresholds(growth=7.0)})
    assert data_of(replace(whole, audit=moved))["panels"][0]["limit"] == 7.0


def test_a_run_is_there_whatever_became_of_it(whole, data):
    assert [run["id"] for run in data["runs"]] == [run.identity for run in whole.runs]
    states = [run["state"] for run in data["runs"]]
    assert {"finished", "diverged", "failed", "waiting"} == set(states)
    failed = data["runs"][states.index("failed")]
    assert (failed["reason"], failed["method"], failed["k"]) == ("no luck", "dfa", 1)
    for run, one in zip(whole.runs, data["runs"], strict=True):
        assert one["config"] == run.config.model_dump(mode="json")
        assert one["provenance"] == run.provenance
        assert (one["accuracy"], one["seed"]) == (run.accuracy, run.config.seed)
    fired = {(run["method"], run["k"], run["seed"]): run["fired"] for run in data["runs"]}
    assert fired["dfa", 2, 1] == {"D1": 0, "D2": 0}
    assert fired["bp", 2, 1] == {"D1": None, "D2": None}
    assert fired["dfa", 1, 2] == {}


def test_rules_have_their_look_and_their_verdict(whole, data):
    methods = [rule["method"] for rule in data["rules"]]
    assert methods == ["bp", "dfa", "dfa[shallow]"]
    expected = looks(list(whole))
    verdicts = {label: verdict.word for label, verdict in whole.verdicts.items()}
    for rule in data["rules"]:
        assert rule["look"] == vars(expected[rule["method"]])
        assert rule["verdict"] == verdicts[rule["method"]]
    assert {rule["control"] for rule in data["rules"]} == {None, "shallow"}


def test_every_number_of_a_ladder_leads_to_its_run(data):
    runs = {run["id"]: run for run in data["runs"]}
    seen = 0
    for rule in data["rules"]:
        for rung in rule["ladder"]:
            for seed, accuracy, identity in rung["seeds"]:
                run = runs[identity]
                assert (run["seed"], run["accuracy"], run["k"]) == (seed, accuracy, rung["k"])
                assert run["method"] == rule["method"]
                seen += 1
    assert seen == sum(run["state"] == "finished" for run in data["runs"])


def test_networks_lead_to_their_runs(data):
    runs = {run["id"]: run for run in data["runs"]}
    networks = [(rule["method"], one) for rule in data["rules"] for one in rule["networks"]]
    assert len(networks) == 4
    for method, network in networks:
        run = runs[network["run"]]
        assert (run["method"], run["k"], run["seed"]) == (method, 2, network["seed"])
        assert network["diverged"] is (run["state"] == "diverged")


def test_what_an_audit_read_of_a_network(whole, data):
    (dfa,) = (rule for rule in data["rules"] if rule["method"] == "dfa")
    one, diverged = dfa["networks"]
    report = whole["dfa"].networks[0].report
    assert one["alignment"] == list(report.alignment.per_layer) == [None, 0.25]
    assert one["lesion"] == list(report.lesion.per_layer)
    assert one["rewind"] == list(report.rewind.per_layer)
    read = one["read"]
    assert (read["growth"], read["stability"]) == (900.0, 0.1)
    assert read["depth_gain"] == pytest.approx(-0.05)
    assert one["null"] is None
    names = [reading["name"] for reading in one["readings"]]
    assert names
    assert len(set(names)) == len(names)
    assert (diverged["readings"], diverged["alignment"]) == ([], None)
    assert set(diverged["read"].values()) == {None}


def test_the_null_of_a_network():
    null = make_null([0.123456789, -0.1], 0.25, "specific", ("absent", "specific"))
    study = make_study(audit=make_audit(make_network("dfa", gamma=(None, 0.25), null=null)))
    ((network,),) = (rule["networks"] for rule in data_of(study)["rules"])
    assert network["null"] == {
        "mean": [0.0, 0.1],
        "spread": [0.05, 0.05],
        "fresh": [0.12346, -0.1],
        "words": ["absent", "specific"],
        "observed": 0.25,
        "p_upper": 0.01,
        "word": "specific",
    }


def test_an_audit_without_a_study(tmp_path):
    data = data_of(load(write_audit(tmp_path / "a", {"fa": {1: (0.5, 0.4)}})))
    assert (data["runs"], data["blocks"], data["series"]["values"]) == ([], None, "")
    ((network,),) = (rule["networks"] for rule in data["rules"])
    assert (network["run"], network["accuracy"]) == (None, 0.5)
    assert network["read"]["depth_gain"] == pytest.approx(0.1)


def test_what_is_not_finite_is_null():
    """A growth without bound stands in the intervals of a rule of which a run diverged."""
    read = [make_network("dfa", seed, growth=100.0 + seed) for seed in (1, 2, 3)]
    (dfa,) = data_of(make_study(audit=make_audit(*read, make_network("dfa", 4, None))))["rules"]
    growth = dfa["diagnostics"]["D1"]["intervals"]["growth"]
    assert growth["low"] == pytest.approx(100, rel=0.1)
    assert growth["high"] is None


@pytest.mark.parametrize("audited", [False, True])
def test_an_interval_that_says_nothing_is_left_out(tmp_path, audited):
    """One seed of two diverged: the other alone tells nothing."""
    folder = write_whole_study(tmp_path / "s")
    if not audited:
        (folder / "audit.json").unlink()
    (dfa,) = (rule for rule in data_of(load(folder))["rules"] if rule["method"] == "dfa")
    assert dfa["diagnostics"]["D1"]["finding"] == "straddles"
    assert "growth" not in dfa["diagnostics"]["D1"]["intervals"]


def test_swap_twins_stand_beside_the_rungs_and_are_none():
    """The hollow signs of the ladder; no chart of training or layers takes one for a rung."""
    data = data_of(make_study(*make_rungs("bp", CLIMB, ON_NOISE)))
    (bp,) = data["rules"]
    assert [(rung["k"], len(rung["seeds"])) for rung in bp["ladder"]] == [(0, 3), (1, 3), (2, 3)]
    assert [twin["k"] for twin in bp["twins"]] == [1, 2]
    for twin in bp["twins"]:
        assert twin["mean"] == pytest.approx(fmean(ON_NOISE[twin["k"]]))
    others = [run for run in data["runs"] if not run["follows"]]
    assert {run["rung"] for run in others} == {"1 (block 1 on noise)", "2 (block 0 on noise)"}
    assert {seed[2] for twin in bp["twins"] for seed in twin["seeds"]} == {
        run["id"] for run in others
    }
    assert {run["rung"] for run in data["runs"] if run["follows"]} == {"0", "1", "2"}


def test_an_interval_of_more_than_100_points_has_no_ends_in_the_ladder():
    runs = [make_run("bp", 1, accuracy=0.3), make_run("bp", 2, accuracy=0.4)]
    (bp,) = data_of(make_study(*runs))["rules"]
    assert [(rung["low"], rung["high"]) for rung in bp["ladder"]] == [(None, None)]


def test_a_stream_without_bound_is_not_taken_for_one_that_was_not_read():
    grown = make_network("dfa", 1, norms=(1.0, 1.0, math.inf))
    study = make_study(audit=make_audit(grown, make_network("dfa", 2, None)))
    (dfa,) = data_of(study)["rules"]
    assert [network["read"]["growth"] for network in dfa["networks"]] == ["Infinity", None]
