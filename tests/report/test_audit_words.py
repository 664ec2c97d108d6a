"""The audit in words."""

from __future__ import annotations

from report.audits import make_audit, make_diverged_entry, make_entry

from depthgauge.report.audit_words import audit_words

CONTROL = {"verdict": "no alarm, depth untested"}


def diagnostic(name: str, finding: str, sentence: str) -> dict[str, str]:
    return {"name": name, "finding": finding, "sentence": sentence}


def test_every_diagnostic_of_every_rule_has_its_sentence():
    d1 = diagnostic("D1", "fires", "scale: it grows")
    d3 = diagnostic("D3", "passes", "depth utility: it gains")
    verdicts = {
        "dfa": make_entry(diagnostics=[d1]),
        "bp": make_entry(diagnostics=[d3]),
        "lost": make_diverged_entry(),
    }
    assert audit_words(make_audit(verdicts=verdicts)) == [
        "dfa D1 fires: scale: it grows.",
        "bp D3 passes: depth utility: it gains.",
    ]


def test_how_far_each_threshold_may_move():
    ranges = [
        {"threshold": "growth", "used": 50.0, "low": None, "high": 694.321},
        {"threshold": "gradient", "used": 1.28e-5, "low": 4.21e-9, "high": None},
    ]
    (sentence,) = audit_words(make_audit(verdicts={"dfa": make_entry(sensitivity=ranges)}))
    assert sentence == (
        "dfa keeps its verdict for any one threshold within: growth 0 to 694 (used: 50); gradient "
        "4.21e-09 to any value (used: 1.28e-05)."
    )


def test_a_task_on_which_bp_was_not_audited_is_said_to_be_unknown():
    (sentence,) = audit_words(make_audit(bp_gain=None))
    assert "bp was not audited" in sentence
    assert audit_words(make_audit(bp_gain=0.0)) == []


def test_frozen_accuracies_that_were_given_are_said_to_be_without_their_spread():
    (sentence,) = audit_words(make_audit(frozen={"dfa": 0.349}))
    assert "not paired by seed" in sentence
    assert audit_words(make_audit()) == []


def test_the_control_is_counted_with_what_it_came_to():
    controls = {"untrained_s1": CONTROL, "untrained_s2": CONTROL}
    assert audit_words(make_audit(controls=controls)) == [
        "As a control, 2 untrained networks: no alarm, depth untested."
    ]


def test_a_control_that_raises_an_alarm_is_seen():
    controls = {"untrained_s1": CONTROL, "untrained_s2": {"verdict": "walk back"}}
    (sentence,) = audit_words(make_audit(controls=controls))
    assert "walk back" in sentence
    assert "no alarm" in sentence


def test_one_network_is_not_spoken_of_as_many():
    (sentence,) = audit_words(make_audit(controls={"untrained_s1": CONTROL}))
    assert sentence == "As a control, 1 untrained network: no alarm, depth untested."
