"""What a rule may see of a network, and whether that lets it carry weights backwards, in words.

This module knows no torch: `depthgauge rules` reads `needs` off the source and answers at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthgauge.rules.contract import Rule

SIGHT = {
    "error": "the error",
    "readout": "the Jacobian of the readout",
    "blocks": "the Jacobians of the blocks",
    "gradient": "the true gradient",
}
"""What each need shows; a function that is offered can be differentiated, so it is its Jacobian."""

CARRIED = {"gradient": ("blocks", "readout"), "blocks": ("blocks",), "readout": ("readout",)}
"""The parts whose forward weights a need carries backwards: a Jacobian's transpose has them."""


@dataclass(frozen=True)
class Access:
    """What a rule declares: its `needs`, and whether its feedback is made from the weights.

    It says what a rule may do. One that asks for the readout and never differentiates it is held to
    carry the readout's weights all the same.
    """

    needs: tuple[str, ...] = ()
    copies_weights: bool = False

    @property
    def sees(self) -> tuple[str, ...]:
        """What the rule sees besides the states."""
        found = tuple(words for need, words in SIGHT.items() if need in self.needs)
        return found or ("the target alone",)

    @property
    def transports(self) -> tuple[str, ...]:
        """The parts whose weights, transposed, the credit may hold; feedback that copies them."""
        carried = {part for need in self.needs for part in CARRIED.get(need, ())}
        carried |= {"feedback"} if self.copies_weights else set()
        return tuple(part for part in ("blocks", "readout", "feedback") if part in carried)

    def __str__(self) -> str:
        """What it sees; whose weights it carries back."""
        return f"sees {_listed(self.sees)}; {self._transport()}"

    def _transport(self) -> str:
        through = [part for part in self.transports if part != "feedback"]
        named = [f"the {part}" for part in through]
        words = [f"transports the weights of {_listed(named)}"] if through else []
        if "blocks" in through:
            words.append("as backpropagation does")
        if self.copies_weights:
            words.append("its feedback is made from the weights")
        return ", ".join(words) or "transports no weights"


def access_of(rule: type[Rule] | Rule) -> Access:
    """Return what a rule declares."""
    return Access(tuple(sorted(rule.needs)), rule.copies_weights)


def _listed(words: Collection[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
