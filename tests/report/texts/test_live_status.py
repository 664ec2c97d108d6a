"""What each rule has reached so far, in a line."""

from __future__ import annotations

from dataclasses import replace

from depthgauge.report.texts.live_status import MOST, live_status
from depthgauge.scheduling.live_status import Fired, LiveRule, LiveRuns

NOTHING = LiveRuns(0, None, None, 0)
WAITING = LiveRule("fa", 20, 6, 0, 0, NOTHING, NOTHING, ())
TRAINING = LiveRule(
    "dfa",
    20,
    6,
    0,
    0,
    LiveRuns(3, (4, 4), 0.2604, 0),
    LiveRuns(3, (4, 4), 0.2512, 0),
    (Fired("D1", 2, 3), Fired("D2", 1, 4)),
)
DONE = LiveRule(
    "bp", 20, 6, 6, 0, LiveRuns(3, (20, 20), 0.7012, 0), LiveRuns(3, (20, 20), 0.27, 0), ()
)


def test_accuracy_and_alarms_of_each_rule_that_has_begun():
    assert live_status([DONE, TRAINING, WAITING]) == "bp 70.1 %, dfa 26.0 % D1 D2"
    assert live_status([WAITING]) == live_status([]) == ""


def test_a_rule_whose_runs_have_all_diverged():
    lost = replace(TRAINING, full=LiveRuns(3, (4, 4), None, 3), fired=(Fired("D1", 3, 1),))
    assert live_status([lost]) == "dfa diverged D1"


def named(rule: LiveRule, count: int) -> list[LiveRule]:
    return [replace(rule, rule=f"{rule.rule}-{number}") for number in range(count)]


def test_of_many_rules_those_in_training_are_named_first_in_their_order():
    words = live_status([*named(DONE, MOST), *named(TRAINING, 2)]).split(", ")
    expected = [*named(DONE, MOST - 2), *named(TRAINING, 2)]
    assert [word.split()[0] for word in words[:-1]] == [rule.rule for rule in expected]
    assert words[-1] == "and 2 more"
