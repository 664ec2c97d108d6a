"""From readings to verdicts over seeds, and to decision utility."""

from __future__ import annotations

from dataclasses import replace

import pytest
from auditing.audited_networks import CHANCE, audit_of, audited, under_audit
from verdict.example_ladders import bp_depth

from depthgauge.auditing.conclusion import depth_gain_of_bp
from depthgauge.results.audit import Audit
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

BP = [audited("bp", seed, 0.6 + seed / 100, 0.4, gamma=1.0) for seed in (1, 2, 3)]
DFA = [
    audited("dfa", seed, 0.31, 0.33, growth=900 + seed, gradient=1e-9, gamma=0.1, stability=0.5)
    for seed in (1, 2, 3)
]
FA = [audited("fa", seed, 0.3, 0.3) for seed in (1, 2, 3)]


def test_the_verdict_over_seeds_is_the_one_of_judge():
    depth = bp_depth()
    audit = audit_of(*DFA, *BP, used_depths={"bp": depth})
    assert list(audit.verdicts) == ["dfa", "bp"]
    assert audit.bp_gain == pytest.approx(0.22)
    for label, networks, used in (("bp", BP, depth), ("dfa", DFA, None)):
        readings = [one.report.seed_readings for one in networks]
        expected = judge(readings, None, audit.bp_gain, used_depth=used)
        assert audit.verdicts[label].verdict == expected
        assert audit.verdicts[label].in_words == str(expected)
    assert (audit.verdicts["bp"].word, audit.verdicts["dfa"].word) == ("trustworthy", "walk back")
    assert audit.verdicts["bp"].used_depth == depth
    assert audit.verdicts["bp"].accuracy.mean == pytest.approx(0.62)


def test_without_a_ladder_no_rule_is_called_trustworthy():
    entry = audit_of(*BP).verdicts["bp"]
    assert (entry.word, entry.used_depth) == ("no alarm, depth untested", None)
    assert entry.published_word == "trustworthy"


def test_networks_keep_what_was_read_off_them():
    audit = audit_of(*BP)
    for network, one in zip(audit.networks, BP, strict=True):
        assert (network.label, network.seed) == ("bp", one.network.seed)
        assert (network.accuracy, network.frozen) == (one.network.accuracy, 0.4)
        assert (network.report, network.source) == (one.report, one.network.source)
        assert network.first_fired == {"D1": None, "D2": 3}


def test_thresholds_decide_and_are_kept():
    audit = audit_of(*BP, thresholds=Thresholds(growth=1.2))
    assert audit.thresholds == Thresholds(growth=1.2)
    assert audit.verdicts["bp"].fired == ("D1",)


def test_where_bp_gains_nothing_depth_is_not_judged():
    flat = [audited("bp", seed, 0.41, 0.4) for seed in (1, 2, 3)]
    assert audit_of(*flat, *FA).verdicts["fa"].word == "no alarm, depth untested"
    alone = audit_of(*FA)
    assert alone.bp_gain is None
    assert alone.verdicts["fa"].fired == ("D3",)


def test_a_run_that_diverged_counts_and_has_no_report():
    audit = audit_of(*DFA[:2], audited("dfa", 3, None, 0.33))
    entry = audit.verdicts["dfa"]
    assert audit.networks[2].report is None
    assert (entry.seeds, entry.diverged_seeds, entry.accuracy.n) == ((1, 2, 3), (3,), 2)
    assert audit.decision_utility["all"]["dfa"] == (3, 3)


def test_a_rule_that_always_diverged_is_walked_back():
    entry = audit_of(audited("dfa", 1, None, 0.3), audited("dfa", 2, None, None)).verdicts["dfa"]
    assert entry.in_words == "walk back (D1, D2)"
    assert (entry.diverged_seeds, entry.accuracy.mean) == ((1, 2), None)


def test_a_rule_that_diverged_with_some_seeds_is_not_called_trustworthy():
    networks = [*BP, audited("bp", 4, None, 0.4)]
    entry = audit_of(*networks, used_depths={"bp": bp_depth(4)}).verdicts["bp"]
    assert (entry.word, entry.published_word) == ("inconclusive", "inconclusive")


def test_seven_strategies_and_what_each_walks_back():
    """dfa is above chance and aligned; only the diagnostics walk it back."""
    table = audit_of(*BP, *DFA).decision_utility
    assert all(counts["bp"] == (0, 3) for counts in table.values())
    assert {strategy: counts["dfa"][0] for strategy, counts in table.items()} == {
        "accuracy": 0,
        "accuracy + mean Γ": 0,
        "accuracy + mean Γ + D1": 3,
        "accuracy + mean Γ + D2": 3,
        "accuracy + mean Γ + D2s": 3,
        "accuracy + mean Γ + D3": 3,
        "all": 3,
    }


def test_accuracy_at_chance_and_no_alignment_are_walked_back_by_the_usual_reports():
    table = audit_of(
        audited("a", 1, CHANCE + 0.01, CHANCE - 0.1, gamma=0.5),
        audited("b", 1, 0.5, 0.3, gamma=-0.1),
    ).decision_utility
    assert table["accuracy"] == {"a": (1, 1), "b": (0, 1)}
    assert table["accuracy + mean Γ"] == {"a": (1, 1), "b": (1, 1)}


# What earlier audits of the same study said


def said(*seeds: int, earlier: Audit | None = None, growth: float = 1.5) -> Audit:
    """Return an audit of these seeds, which replaces the earlier one."""
    networks = [audited("fa", seed, 0.6, 0.3, growth=growth) for seed in seeds]
    return audit_of(*networks, earlier=earlier.verdicts if earlier else None)


def pairs(audit: Audit) -> list[tuple[int, str]]:
    return [(one.seeds, one.word) for one in audit.verdicts["fa"].earlier]


def test_an_audit_with_other_seeds_keeps_what_the_earlier_ones_said_oldest_first():
    """The document shows if somebody added seeds until the word was the wanted one."""
    first = said(1, 2, 3)
    assert pairs(first) == []
    second = said(1, 2, 3, 4, earlier=first, growth=99.0)
    assert pairs(second) == [(3, "no alarm, depth untested")]
    third = said(1, 2, 3, 4, 5, earlier=second)
    assert pairs(third) == [(3, "no alarm, depth untested"), (4, "walk back")]


def test_the_same_seeds_again_are_no_second_look():
    first = said(1, 2, 3)
    assert pairs(said(3, 2, 1, earlier=first)) == []
    second = said(1, 2, 3, 4, earlier=first)
    assert pairs(said(1, 2, 3, 4, earlier=second)) == pairs(second) != []


def test_looking_back_and_forth_names_each_number_of_seeds_and_word_once():
    audit = said(1, 2)
    for seeds in [(1, 2, 3), (1, 2), (1, 2, 3), (1, 2)]:
        audit = said(*seeds, earlier=audit)
    words = ["no alarm, depth untested"] * 2
    assert pairs(audit) == list(zip([2, 3], words, strict=True))


def test_a_rule_that_was_not_audited_before_has_no_earlier_verdict():
    audit = audit_of(*BP, *FA, earlier=said(1).verdicts)
    assert audit.verdicts["bp"].earlier == ()
    assert pairs(audit) == [(1, "no alarm, depth untested")]


# What backpropagation gains


def test_what_bp_gains_from_depth_is_its_mean_over_seeds():
    networks = [
        under_audit("bp", 1, 0.5, 0.4),
        under_audit("bp", 2, 0.6, 0.3),
        under_audit("bp", 3, None, 0.1),
        under_audit("bp", 4, 0.9, None),
        under_audit("dfa", 1, 0.9, 0.1),
    ]
    assert depth_gain_of_bp(networks) == pytest.approx(0.2)
    assert depth_gain_of_bp(networks[2:]) is None


def test_of_several_settings_of_bp_the_most_accurate_one_tells_what_depth_gives():
    slow = replace(under_audit("bp[learning_rate=1e-09]", 1, 0.4, 0.1), rule="bp")
    wide = replace(under_audit("bp[wide_block]", 1, 0.9, 0.1), rule="bp", control="wide_block")
    assert depth_gain_of_bp([slow, wide, under_audit("bp", 1, 0.5, 0.4)]) == pytest.approx(0.1)
