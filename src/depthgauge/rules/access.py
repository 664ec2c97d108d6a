"""Say in words what a rule may see of a network, and whether it can transport weights.

A rule transports the weights of a part of the network if it can use these weights transposed.
This module does not import torch, so `depthgauge rules` answers at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthgauge.rules.contract import Rule

SEEN_BY_NEED = {
    "error": "the error",
    "readout": "the Jacobian of the readout",
    "blocks": "the Jacobians of the blocks",
    "gradient": "the true gradient",
}
"""For each need, what the rule sees: if the need is a function, a rule can differentiate it."""

TRANSPORTED_BY_NEED = {
    "gradient": ("blocks", "readout"),
    "blocks": ("blocks",),
    "readout": ("readout",),
}
"""For each need, the parts of the network whose Jacobian gives the rule transposed weights."""


@dataclass(frozen=True)
class Access:
    """The declarations of a rule: its `needs`, and whether its feedback is made from the weights.

    The declarations say what the rule could do, not what it does. A rule that needs the readout
    counts as transporting the readout's weights, even if it never differentiates the readout.
    """

    needs: tuple[str, ...] = ()
    copies_weights: bool = False

    @property
    def sees(self) -> tuple[str, ...]:
        """What the rule sees besides the states, in words."""
        seen = tuple(words for need, words in SEEN_BY_NEED.items() if need in self.needs)
        return seen or ("the target alone",)

    @property
    def transports(self) -> tuple[str, ...]:
        """The parts of the network whose transposed weights the rule can use.

        "feedback" is in the list if the rule's feedback is made from the weights.
        """
        parts = {part for need in self.needs for part in TRANSPORTED_BY_NEED.get(need, ())}
        parts |= {"feedback"} if self.copies_weights else set()
        return tuple(part for part in ("blocks", "readout", "feedback") if part in parts)

    def __str__(self) -> str:
        """Say what the rule sees, and which weights it transports."""
        return f"sees {_join(self.sees)}; {self._transport()}"

    def _transport(self) -> str:
        parts = [part for part in self.transports if part != "feedback"]
        named = [f"the {part}" for part in parts]
        words = [f"transports the weights of {_join(named)}"] if parts else []
        if "blocks" in parts:
            words.append("as backpropagation does")
        if self.copies_weights:
            words.append("its feedback is made from the weights")
        return ", ".join(words) or "transports no weights"


def access_of(rule: type[Rule] | Rule) -> Access:
    """Return the access that a rule declares."""
    return Access(tuple(sorted(rule.needs)), rule.copies_weights)


def _join(words: Collection[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
