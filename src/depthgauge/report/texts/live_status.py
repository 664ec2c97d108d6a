"""The status of a study that is being trained, as a part of the line of progress."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.number_format import percent
from depthgauge.scheduling.live_status import LiveRule

MOST = 12
"""The line names so many rules."""


def live_status(rules: Sequence[LiveRule]) -> str:
    """Return accuracy and alarms of each rule: `bp 70.1 %, dfa 26.0 % D1`.

    Rules that have not begun are left out. Of many, those in training come first.
    """
    begun = [rule for rule in rules if rule.full.begun]
    in_training_first = sorted(range(len(begun)), key=lambda place: begun[place].has_ended)
    named = [begun[place] for place in sorted(in_training_first[:MOST])]
    words = [_of_rule(rule) for rule in named]
    if len(begun) > len(named):
        words.append(f"and {len(begun) - len(named)} more")
    return ", ".join(words)


def _of_rule(rule: LiveRule) -> str:
    accuracy = rule.full.accuracy
    reached = "diverged" if accuracy is None else f"{percent(accuracy)} %"
    return " ".join([rule.rule, reached, *(fired.name for fired in rule.fired)])
