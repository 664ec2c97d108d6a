"""What each rule has come to so far, as a table and in a line."""

from __future__ import annotations

from dataclasses import replace

from depthgauge.report.live_table import HEADER, MOST, live_rows, live_words
from depthgauge.scheduling.live import Fired, LiveRule, LiveRuns

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


def row(rule: LiveRule) -> dict[str, str]:
    (cells,) = live_rows([rule])
    return dict(zip(HEADER, map(str, cells), strict=True))


def test_one_row_for_each_rule():
    assert row(TRAINING) == {
        "rule": "dfa",
        "runs": "0/6",
        "epoch": "4/20",
        "acc": "26.0",
        "frozen": "25.1",
        "fired so far": "D1 in 2 of 3 from epoch 3, D2 in 1 of 3 from epoch 4",
    }
    assert row(DONE)["fired so far"] == "none"
    assert [str(cells[0]) for cells in live_rows([DONE, TRAINING])] == ["bp", "dfa"]


def test_what_has_not_begun_is_dashes():
    assert list(row(WAITING).values()) == ["fa", "0/6", "–", "–", "–", "–"]


def test_runs_at_different_epochs():
    assert row(replace(TRAINING, full=LiveRuns(3, (2, 11), 0.3, 0)))["epoch"] == "2–11/20"


def test_where_only_frozen_runs_were_asked_for_the_epoch_is_theirs():
    shown = row(replace(TRAINING, full=NOTHING, fired=()))
    assert (shown["epoch"], shown["acc"], shown["frozen"]) == ("4/20", "–", "25.1")


def test_runs_that_diverged_or_failed_are_said():
    lost = replace(
        TRAINING,
        failed=2,
        full=LiveRuns(3, (4, 4), None, 3),
        frozen=LiveRuns(1, (4, 4), 0.2, 1),
        fired=(Fired("D1", 3, 1),),
    )
    assert row(lost)["fired so far"] == "D1 in 3 of 3 from epoch 1, 4 diverged, 2 failed"
    assert row(replace(WAITING, failed=6))["fired so far"] == "–, 6 failed"


def test_a_line_names_accuracy_and_what_fired_of_what_has_begun():
    assert live_words([DONE, TRAINING, WAITING]) == "bp 70.1 %, dfa 26.0 % D1 D2"
    assert live_words([WAITING]) == live_words([]) == ""


def test_a_line_says_where_all_runs_have_diverged():
    lost = replace(TRAINING, full=LiveRuns(3, (4, 4), None, 3), fired=(Fired("D1", 3, 1),))
    assert live_words([lost]) == "dfa diverged D1"


def named(rule: LiveRule, count: int) -> list[LiveRule]:
    return [replace(rule, rule=f"{rule.rule}-{number}") for number in range(count)]


def names(rules: list[LiveRule]) -> list[str]:
    return [str(cells[0]) for cells in live_rows(rules)]


def test_so_many_rules_are_shown_one_by_one_and_no_more():
    assert len(names(named(TRAINING, MOST))) == MOST
    shown = names(named(TRAINING, MOST + 5))
    assert len(shown) == MOST + 1
    assert shown[-1] == "… and 5 more"
    assert live_words(named(TRAINING, MOST + 5)).endswith(
        f"dfa-{MOST - 1} 26.0 % D1 D2, and 5 more"
    )


def test_of_many_those_being_trained_are_shown_then_those_that_ended_in_their_order():
    for training in [1, MOST]:
        waiting, done, now = named(WAITING, 2), named(DONE, MOST), named(TRAINING, training)
        ended = [rule.rule for rule in done[: MOST - training]]
        shown = names([*waiting, *done, *now])
        assert shown == [*ended, *(rule.rule for rule in now), f"… and {2 + training} more"]


def test_every_row_has_a_cell_for_each_column():
    for rules in ([], [WAITING], named(DONE, 40)):
        assert {len(cells) for cells in live_rows(rules)} <= {len(HEADER)}
