"""Seven ways of reporting, on the published audit and on runs that differ in one thing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from verdict.simulated_seeds import ERROR_NORM, N128, as_seeds, changed, studies

from depthgauge.published.figures import published
from depthgauge.verdict.decision_utility import RunEvidence, count_walk_backs, strategies
from depthgauge.verdict.thresholds import Thresholds

AUDIT = published().main_audit
LADDER = published().ladder.networks["d256_L4"].rules
CHANCE = 0.1
STRATEGIES = tuple(strategies())
BP_GAIN = AUDIT.rules["bp"].accuracy.mean - LADDER["bp"][0].mean
SLIGHTLY_ALIGNED = 0.01
"""The bridges' mean Γ was not published, only that it walks none of them back: above 0."""


def evidence(
    rule: str, growth: float, g_n128: float, alignment: float, frozen: float
) -> RunEvidence:
    accuracy, gradient = AUDIT.rules[rule].accuracy.mean, g_n128 * N128
    return RunEvidence(
        accuracy=accuracy,
        chance=CHANCE,
        alignment=alignment,
        readings={
            "growth": growth,
            "gradient": gradient,
            "error_share": gradient / ERROR_NORM,
            "stability": AUDIT.stability[rule],
            "depth_gain": accuracy - frozen,
        },
        bp_gain=BP_GAIN,
    )


def published_run(rule: str) -> RunEvidence:
    scale = AUDIT.scale
    if rule == "bp":
        h = scale["bp"].h
        growth = max(after / before for before, after in pairwise(h))
        frozen = LADDER["bp"][0].mean
        return evidence(rule, growth, scale["bp"].g[-1], 1.0, frozen)
    layers = AUDIT.rules["dfa"].gamma_layers_0_to_4
    mean = sum(layers) / len(layers) if rule == "dfa" else SLIGHTLY_ALIGNED
    return evidence(rule, 694.0, 4.2e-9, mean, AUDIT.frozen.accuracy.mean)


FAIR = published_run("bp")
DEGENERATE = ("dfa", "state_bridge", "credit_bridge")


def strategies_against(run: RunEvidence) -> set[str]:
    return {name for name, (count, _) in count_walk_backs([run]).items() if count}


def test_the_strategies_are_seven_in_this_order():
    common = "accuracy + mean Γ"
    each = [f"{common} + {name}" for name in ("D1", "D2", "D2s", "D3")]
    assert list(strategies()) == list(count_walk_backs([])) == ["accuracy", common, *each, "all"]


def test_on_the_published_audit_accuracy_and_alignment_walk_back_none():
    runs = [published_run(rule) for rule in ("bp", *DEGENERATE)]
    counts = count_walk_backs(runs)
    assert counts["accuracy"] == counts["accuracy + mean Γ"] == (0, 4)


def test_on_the_published_audit_all_evidence_walks_back_each_degenerate_rule():
    for rule in DEGENERATE:
        assert "all" in strategies_against(published_run(rule))


def test_on_the_published_audit_nothing_walks_back_bp():
    assert strategies_against(FAIR) == set()


def test_on_the_published_audit_each_diagnostic_but_stability_finds_all_three():
    for name, rules in [("D1", 3), ("D2", 3), ("D2s", 2), ("D3", 3)]:
        runs = [published_run(rule) for rule in ("bp", *DEGENERATE)]
        assert count_walk_backs(runs)[f"accuracy + mean Γ + {name}"] == (rules, 4)


def test_strategies_that_walk_a_run_back_for_one_number():
    for change, convinced in [
        ({"accuracy": 0.119}, set(STRATEGIES)),
        ({"accuracy": 0.121}, set()),
        ({"accuracy": 0.02, "chance": 0.01}, set(STRATEGIES)),
        ({"accuracy": 0.04, "chance": 0.01}, set()),
        ({"alignment": 0.0}, set(STRATEGIES) - {"accuracy"}),
        ({"alignment": -0.2}, set(STRATEGIES) - {"accuracy"}),
        ({"alignment": 1e-6}, set()),
        ({"alignment": None}, set()),
    ]:
        assert strategies_against(replace(FAIR, **change)) == convinced


def test_strategies_that_walk_a_run_back_for_one_diagnostic():
    for change, name in [
        ({"growth": 51.0}, "D1"),
        ({"gradient": 1e-6, "error_share": 1e-6}, "D2"),
        ({"numerics": 0.5}, "D2"),
        ({"depth_gain": 0.01}, "D3"),
    ]:
        run = replace(FAIR, readings=changed(FAIR.readings, **change))
        assert strategies_against(run) == {f"accuracy + mean Γ + {name}", "all"}


def test_drift_is_never_a_verdict_by_itself():
    run = replace(FAIR, readings=changed(FAIR.readings, stability=0.31))
    assert strategies_against(run) == {DRIFT}


def test_stability_at_its_threshold_or_not_measured_walks_nothing_back():
    for stability in [0.30, None]:
        run = replace(FAIR, readings=changed(FAIR.readings, stability=stability))
        assert strategies_against(run) == set()


def test_a_small_gain_walks_nothing_back_where_bp_gains_little_too():
    idle = replace(FAIR, readings=changed(FAIR.readings, depth_gain=0.0))
    assert strategies_against(replace(idle, bp_gain=0.01)) == set()
    assert strategies_against(replace(idle, bp_gain=None)) == {"accuracy + mean Γ + D3", "all"}


def test_thresholds_of_ones_own_are_used():
    strict = count_walk_backs([FAIR], Thresholds(growth=0.5, stability=0.01))
    assert {name for name, (count, _) in strict.items() if count} == {
        "accuracy + mean Γ + D1",
        "accuracy + mean Γ + D2s",
        "all",
    }


DRIFT = "accuracy + mean Γ + D2s"

measured = st.none() | st.floats(-1, 1)


@given(studies(most_seeds=1), st.floats(0, 1), measured, measured, measured)
def test_all_evidence_walks_back_what_anything_but_drift_does(study, accuracy, gamma, drift, gain):
    readings = changed(*as_seeds(study), stability=drift)
    found = strategies_against(RunEvidence(accuracy, CHANCE, gamma, readings, gain))
    assert ("all" in found) == bool(found - {"all", DRIFT})
    assert "accuracy" not in found or found == set(STRATEGIES)
