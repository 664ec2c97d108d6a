"""What the charts are drawn from."""

from __future__ import annotations

import json

import pytest
from report.page.page_studies import write_whole_study
from studies.compared_studies import write_audit

from depthgauge.report.page.data import page_data
from depthgauge.report.palette import looks
from depthgauge.studies.gathered import Gathered, gather
from depthgauge.studies.rule_views import rule_views
from depthgauge.verdict.thresholds import Thresholds


def data_of(study: Gathered) -> dict:
    return json.loads(json.dumps(page_data(study, rule_views(study)), allow_nan=False))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Gathered:
    return gather(write_whole_study(tmp_path_factory.mktemp("data") / "study", version="1.0"))


@pytest.fixture(scope="module")
def data(whole) -> dict:
    return data_of(whole)


def test_what_all_charts_share(data):
    assert (data["blocks"], data["chance"]) == (2, 0.125)
    assert data["thresholds"] == dict(Thresholds())


def test_a_run_is_there_whatever_became_of_it(whole, data):
    assert [run["id"] for run in data["runs"]] == [run.identity for run in whole.runs]
    states = [run["state"] for run in data["runs"]]
    assert {"finished", "diverged", "failed", "not begun"} == set(states)
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
    expected = looks([view.method for view in rule_views(whole)])
    verdicts = {view.method: view.verdict for view in rule_views(whole)}
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
    report = whole.audit["reports"]["dfa_s1"]
    assert one["alignment"] == report["readings"]["alignment"]["per_layer"] == [None, 0.25]
    assert one["lesion"] == report["readings"]["lesion"]["per_layer"]
    assert (one["growth"], one["stability"], one["gain"]) == (900.0, 0.1, pytest.approx(-0.05))
    assert one["null"] is None
    names = [reading["name"] for reading in one["readings"]]
    assert names
    assert len(set(names)) == len(names)
    assert (diverged["readings"], diverged["growth"], diverged["alignment"]) == ([], None, None)


def test_the_null_of_a_network(tmp_path):
    folder = write_whole_study(tmp_path / "s")
    audit = json.loads((folder / "audit.json").read_text())
    layers = [{"mean": 0.01, "spread": 0.02, "word": "absent"}]
    layers += [{"mean": 0.03, "spread": 0.04, "word": "specific"}]
    deep = {"observed": 0.25, "p_upper": 0.01, "word": "specific", "z": 3.0}
    draws = [0.123456789, None, -0.1]
    null = {"per_layer": layers, "deep": deep, "fresh_deep": draws}
    audit["reports"]["dfa_s1"]["readings"]["null"] = null
    (folder / "audit.json").write_text(json.dumps(audit))
    rules = {rule["method"]: rule for rule in data_of(gather(folder))["rules"]}
    assert rules["dfa"]["networks"][0]["null"] == {
        "mean": [0.01, 0.03],
        "spread": [0.02, 0.04],
        "fresh": [0.12346, -0.1],
        "words": ["absent", "specific"],
        "observed": 0.25,
        "p_upper": 0.01,
        "word": "specific",
    }


def test_an_audit_without_a_study(tmp_path):
    data = data_of(gather(write_audit(tmp_path / "a", {"fa": {1: (0.5, 0.4)}})))
    assert (data["runs"], data["blocks"], data["series"]["values"]) == ([], None, "")
    ((network,),) = (rule["networks"] for rule in data["rules"])
    assert (network["run"], network["accuracy"], network["gain"]) == (None, 0.5, pytest.approx(0.1))


@pytest.mark.parametrize("audited", [False, True])
def test_what_is_not_finite_is_null(tmp_path, audited):
    """A growth without bound stands in the intervals of a rule whose run diverged."""
    folder = write_whole_study(tmp_path / "s")
    if not audited:
        (folder / "audit.json").unlink()
    (dfa,) = (rule for rule in data_of(gather(folder))["rules"] if rule["method"] == "dfa")
    assert dfa["diagnostics"]["D1"]["intervals"]["growth"]["high"] is None


def test_a_stream_without_bound_is_not_taken_for_one_that_was_not_read(tmp_path):
    folder = write_whole_study(tmp_path / "s")
    audit = json.loads((folder / "audit.json").read_text())
    (row,) = (r for r in audit["summary"] if (r["method"], r["seed"]) == ("dfa", 1))
    row["growth"] = None
    audit["reports"]["dfa_s1"]["residual_norms"][-1] = None
    (folder / "audit.json").write_text(json.dumps(audit))
    (dfa,) = (rule for rule in data_of(gather(folder))["rules"] if rule["method"] == "dfa")
    assert [network["growth"] for network in dfa["networks"]] == ["Infinity", None]
