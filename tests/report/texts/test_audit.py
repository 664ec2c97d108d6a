"""The audit in words."""

from __future__ import annotations

from report.studies import (
    CONFIG,
    audit_of_verdicts,
    make_audit,
    make_floors,
    make_network,
    make_report,
    make_study,
    make_verdict,
)

from depthgauge.diagnostics.finding import Finding
from depthgauge.report.texts.audit import audit_sentences
from depthgauge.results.audit_parts import EarlierVerdict
from depthgauge.rules.access import Access
from depthgauge.verdict.sensitivity import StableRange


def words_of(verdicts=None, floors=None, **parts):
    audit = audit_of_verdicts(verdicts or {}, **parts)
    return audit_sentences(make_study(audit=audit.model_copy(update={"floors": floors})))


def test_every_diagnostic_of_every_rule_but_controls_has_its_sentence():
    d1 = Finding("D1", "fires", {}, "scale: it grows")
    d3 = Finding("D3", "passes", {}, "depth utility: it gains")
    verdicts = {
        "dfa": make_verdict(findings=(d1,)),
        "bp": make_verdict(findings=(d3,)),
        "bp[no_skip]": make_verdict(findings=(d1,), control="no_skip"),
    }
    assert words_of(verdicts) == [
        "dfa D1 fires: scale: it grows.",
        "bp D3 passes: depth utility: it gains.",
        "Learning rate and options were not tuned for dfa, bp: a verdict is about this recipe "
        "(--vary with --select validation chooses each rule's setting on held-out samples).",
        "dfa: the verdict survives: walk back at all 2 settings.",
    ]


def test_how_far_each_threshold_may_move():
    ranges = (
        StableRange("growth", 50.0, None, 694.321),
        StableRange("gradient", 1.28e-5, 4.21e-9, None),
    )
    sentence, _ = words_of({"dfa": make_verdict(sensitivity=ranges)})
    assert sentence == (
        "dfa keeps its verdict if one threshold changes within: growth 0 to 694 (used: 50); "
        "gradient 4.21×10⁻⁹ to any value (used: 1.28×10⁻⁵)."
    )


def test_earlier_audits_are_one_sentence_whatever_they_said():
    """A reader cannot know how often somebody looked, unless the audit says it."""
    three = EarlierVerdict(seeds=3, word="inconclusive")
    five = EarlierVerdict(seeds=5, word="shallow")
    verdicts = {
        "bp": make_verdict(earlier=(three,)),
        "fa": make_verdict(earlier=(three, five)),
        "dfa": make_verdict(earlier=(EarlierVerdict(seeds=3, word="walk back"),)),
        "ep": make_verdict(),
    }
    assert [words for words in words_of(verdicts) if "earlier" in words] == [
        "An earlier audit with 3 seeds said inconclusive (bp, fa) and walk back (dfa), another "
        "with 5 seeds said shallow (fa); each further audit makes a wrong verdict likelier: see "
        "docs/verdict.md."
    ]
    assert not any("earlier" in words for words in words_of({"ep": make_verdict()}))


def test_each_rule_is_said_to_see_what_it_sees():
    """A reader of an audit must not have to look into the code to find backpropagation in it."""
    access = Access(("blocks", "readout"))
    words = words_of({"ep": make_verdict(access=access), "old": make_verdict(access=None)})
    assert words[0] == f"ep {access}."
    assert not any(sentence.startswith("old sees") for sentence in words)


def test_a_task_on_which_bp_was_not_audited_is_said_to_be_unknown():
    (sentence,) = words_of(bp_gain=None)
    assert "bp was not audited" in sentence
    assert words_of(bp_gain=0.0) == []


def test_frozen_accuracies_that_were_given_are_said_to_be_without_their_spread():
    (sentence,) = words_of(config=CONFIG.model_copy(update={"frozen_acc": {"dfa": 0.349}}))
    assert "not paired by seed" in sentence


CALM, ALARMED = make_report(None, None), make_report(None, None, growth=900.0)


def test_the_control_is_counted_with_what_it_came_to():
    for reports, networks, words in [
        ([CALM], "1 untrained network", "no alarm, depth untested"),
        ([CALM, CALM], "2 untrained networks", "no alarm, depth untested"),
        ([CALM, ALARMED], "2 untrained networks", "no alarm, depth untested / walk back"),
    ]:
        untrained = {str(seed): report for seed, report in enumerate(reports)}
        assert words_of(untrained=untrained) == [f"Verdict on {networks}, as a control: {words}."]


def test_without_an_audit_there_is_nothing_to_say():
    assert audit_sentences(make_study()) == []
    assert audit_sentences(make_study(audit=make_audit(make_network()))) != []


def test_a_rule_below_the_linear_floor_is_told_so_before_its_diagnostics():
    d1 = Finding("D1", "passes", {}, "scale: it does not grow")
    verdicts = {label: make_verdict(findings=(d1,)) for label in ("bp", "dfa")}
    words = words_of(verdicts, floors=make_floors())
    assert words[0].startswith("bp D1 passes")
    assert words[1].startswith("dfa is not shown to beat a linear classifier")
    assert words[2].startswith("dfa D1 passes")
    assert sum(sentence.startswith("Floor:") for sentence in words) == 2
