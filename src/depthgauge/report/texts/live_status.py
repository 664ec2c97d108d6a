"""The status of the rules of a study in training, for the progress line."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.number_format import percent
from depthgauge.scheduling.live_status import LiveRule

MOST = 12
"""Most rules that the line names."""


def live_status(rules: Sequence[LiveRule]) -> str:
    """Return accuracy and alarms of each rule: `bp 70.1 %, dfa 26.0 % D1`.

    Rules that have not begun are left out. If there are too many to name, rules still in training
    are named rather than rules that have ended.
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
