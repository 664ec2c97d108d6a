"""Backpropagation: the reference for all other rules."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions


class BPOptions(RuleOptions):
    """Backpropagation has no options: the true gradient is used as it is."""

    fixed = frozenset({"normalise", "epsilon"})
    normalise: Literal["none"] = Field(
        default="none", description="the true gradient is used as it is"
    )


class BP(Rule):
    """Backpropagation: the credit of block l is a_l = g_{l+1}, the true gradient at its output.

    The embedding gets g_0, the true gradient at the embedding's output. The credit is the chain
    rule itself. So the engine takes the weight gradients from the same backward pass, and does not
    walk through every block a second time. The flag `end_to_end` asks the engine for this.
    """

    name = "bp"
    summary = "backpropagation: the true gradient"
    needs = frozenset({"gradient"})
    end_to_end = True
    Options = BPOptions

    def credit(self, context: Context) -> Credit:
        """Return the true gradient at every block's output and at the embedding's output."""
        return Credit(blocks=context.gradient[1:], embed=context.gradient[0])
