"""The floor that is trained: the network without blocks, by backpropagation."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.rules.choice import RuleChoice, choose_rule

SHALLOW = "bp[shallow]"


def with_floor(rules: Sequence[RuleChoice]) -> list[RuleChoice]:
    """Return the rules with that one last, unless it is among them: nothing is trained twice."""
    if any(choice.label == SHALLOW for choice in rules):
        return list(rules)
    return [*rules, choose_rule(SHALLOW)]
