"""The audit as one document."""

from __future__ import annotations

import json
import math

import pytest
from studies.audited_networks import CHANCE, audited, report_of

from depthgauge.studies.audit_document import audit_document
from depthgauge.studies.spread import mean_and_spread
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

BP = [audited("bp", seed, 0.6 + seed / 100, 0.4, gamma=1.0) for seed in (1, 2, 3)]
DFA = [
    audited("dfa", seed, 0.31, 0.33, growth=900 + seed, gradient=1e-9, gamma=0.1, stability=0.5)
    for seed in (1, 2, 3)
]


def document_of(*networks, thresholds=None):
    config = {"chance": CHANCE, "task": {"name": "made"}}
    return audit_document(
        networks, config, thresholds or Thresholds(), {"untrained_s1": report_of(0.2, None)}, {}
    )


def test_reports_summary_and_verdicts_name_the_networks_in_their_order():
    document = document_of(*DFA, *BP)
    keys = [f"{method}_s{seed}" for method in ("dfa", "bp") for seed in (1, 2, 3)]
    assert list(document["reports"]) == keys
    assert [f"{row['method']}_s{row['seed']}" for row in document["summary"]] == keys
    assert list(document["verdicts"]) == ["dfa", "bp"]
    assert list(document["controls"]) == ["untrained_s1"]


def test_a_row_has_the_readings_of_its_network():
    one = BP[0]
    row = document_of(one)["summary"][0]
    assert (row["acc"], row["frozen_acc"]) == (0.61, 0.4)
    assert row["h_L"] == one.report.residual_norms[-1]
    assert row["g_L"] == one.report.bp_grad_norms[-1]
    assert row["g_L_n128"] == pytest.approx(row["g_L"] / 128, rel=1e-12)
    assert row["stability"] == 0.1
    assert row["growth"] == 1.5
    assert row["verdict"] == "trustworthy"
    assert row["gamma"] == [None, 1.0]
    assert row["null"] is None
    assert row["first_fired"] == {"D1": None, "D2": 3}
    assert row["source"] == {"run": "runs/bp1"}
    assert row["single_seed"] is True


def test_the_verdict_over_seeds_is_the_one_of_judge():
    document = document_of(*BP, *DFA)
    assert document["config"]["bp_depth_gain"] == pytest.approx(0.22)
    for method, networks in (("bp", BP), ("dfa", DFA)):
        seeds = [one.report.seed_readings for one in networks]
        verdict, entry = judge(seeds, Thresholds(), 0.22), document["verdicts"][method]
        assert entry["verdict"] == verdict.word
        assert entry["verdict_in_words"] == str(verdict)
        assert entry["fired"] == list(verdict.fired)
        assert entry["single_seed"] is False
        assert [d["finding"] for d in entry["diagnostics"]] == [d.outcome for d in verdict.findings]
    assert document["verdicts"]["bp"]["verdict"] == "trustworthy"
    assert document["verdicts"]["dfa"]["verdict_in_words"] == "walk back (D1, D2, D3)"
    assert document["verdicts"]["bp"]["acc"] == {
        "mean": pytest.approx(0.62),
        "std": pytest.approx(0.01),
        "n": 3,
    }


def test_one_seed_is_said():
    entry = document_of(DFA[0])["verdicts"]["dfa"]
    assert entry["single_seed"] is True
    assert "single seed" in entry["verdict_in_words"]
    assert entry["acc"]["std"] is None


def test_thresholds_are_recorded_and_decide():
    strict = Thresholds(growth=1.2)
    document = document_of(*BP, thresholds=strict)
    assert document["thresholds"]["growth"] == 1.2
    assert document["verdicts"]["bp"]["fired"] == ["D1"]


def test_where_bp_gains_nothing_depth_is_not_judged():
    flat = [audited("bp", seed, 0.41, 0.4) for seed in (1, 2, 3)]
    document = document_of(*flat, *(audited("fa", seed, 0.3, 0.3) for seed in (1, 2, 3)))
    assert document["verdicts"]["fa"]["verdict"] == "no alarm, depth untested"
    alone = document_of(*(audited("fa", seed, 0.3, 0.3) for seed in (1, 2, 3)))
    assert alone["config"]["bp_depth_gain"] is None
    assert alone["verdicts"]["fa"]["fired"] == ["D3"]


def test_a_run_that_diverged_has_a_row_and_no_report():
    document = document_of(*DFA[:2], audited("dfa", 3, None, 0.33))
    row, entry = document["summary"][2], document["verdicts"]["dfa"]
    assert list(document["reports"]) == ["dfa_s1", "dfa_s2"]
    assert row["verdict"] == "diverged"
    assert (row["acc"], row["h_L"], row["g_L"], row["g_L_n128"]) == (None, None, None, None)
    assert entry["seeds"] == [1, 2, 3]
    assert entry["diverged_seeds"] == [3]
    assert entry["acc"]["n"] == 2
    assert document["decision_utility"]["all"]["dfa"] == [3, 3]


def test_a_rule_that_always_diverged_is_walked_back():
    document = document_of(audited("dfa", 1, None, 0.3), audited("dfa", 2, None, None))
    entry = document["verdicts"]["dfa"]
    assert entry["verdict_in_words"] == "walk back (D1, D2)"
    assert entry["diverged_seeds"] == [1, 2]
    assert [row["verdict"] for row in document["summary"]] == ["diverged", "diverged"]
    assert entry["acc"] == {"mean": None, "std": None, "n": 0}
    assert document["reports"] == {}


def test_a_rule_that_diverged_with_some_seeds_is_not_called_trustworthy():
    entry = document_of(*BP, audited("bp", 4, None, 0.4))["verdicts"]["bp"]
    assert entry["verdict"] == "inconclusive"


def test_seven_strategies_and_what_each_walks_back():
    """dfa: above chance, aligned; it is the diagnostics that find it out."""
    table = document_of(*BP, *DFA)["decision_utility"]
    assert len(table) == 7
    assert all(counts["bp"] == [0, 3] for counts in table.values())
    walked = {strategy: counts["dfa"][0] for strategy, counts in table.items()}
    assert walked == {
        "accuracy": 0,
        "accuracy + mean Γ": 0,
        "accuracy + mean Γ + D1": 3,
        "accuracy + mean Γ + D2": 3,
        "accuracy + mean Γ + D2s": 3,
        "accuracy + mean Γ + D3": 3,
        "all": 3,
    }


def test_accuracy_at_chance_and_no_alignment_are_walked_back_by_the_usual_reports():
    table = document_of(
        audited("a", 1, CHANCE + 0.01, CHANCE - 0.1, gamma=0.5),
        audited("b", 1, 0.5, 0.3, gamma=-0.1),
    )["decision_utility"]
    assert table["accuracy"] == {"a": [1, 1], "b": [0, 1]}
    assert table["accuracy + mean Γ"] == {"a": [1, 1], "b": [1, 1]}


def test_what_is_not_finite_becomes_null():
    text = json.dumps(document_of(audited("dfa", 1, 0.3, 0.3, growth=math.inf)), allow_nan=False)
    row = json.loads(text)["summary"][0]
    assert row["growth"] is None
    assert row["verdict"] == "walk back"


@pytest.mark.parametrize(
    ("values", "mean", "std"),
    [([], None, None), ([0.3], 0.3, None), ([0.1, 0.2, 0.6], 0.3, math.sqrt(0.14 / 2))],
    ids=str,
)
def test_mean_and_sample_standard_deviation(values, mean, std):
    assert mean_and_spread(values) == {
        "mean": None if mean is None else pytest.approx(mean),
        "std": None if std is None else pytest.approx(std),
        "n": len(values),
    }
