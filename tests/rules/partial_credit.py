"""Rules with a known used depth: the true gradient to some blocks, something else to the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from torch import Tensor

from depthgauge.rules.bp import BPOptions
from depthgauge.rules.contract import Context, Credit, Rule


class PartialOptions(BPOptions):
    """Which blocks get the true gradient, and what the others get."""

    true: str = Field(default="3", description="blocks with the true gradient, such as 0-2")
    rest: Literal["zero", "noise", "signs"] = Field(
        default="zero", description="what the others get: nothing, noise, or random signs"
    )


class Partial(Rule):
    """a_l = g_{l+1} for some blocks; zero, noise of its norm or ±g_{l+1} for the others."""

    name = "partial"
    summary = "the true gradient to some blocks"
    needs = frozenset({"gradient"})
    Options = PartialOptions

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...]:
        """One direction for each block and sample."""
        return (len(states) - 1, *states[0].shape)

    def credit(self, context: Context) -> Credit:
        """The embedding gets the true gradient."""
        embed, *gradients = context.gradient
        true = {int(block) for block in self.options.true.split("-")}
        blocks = [
            gradient if block in true else self._instead(gradient, context.noise[block])
            for block, gradient in enumerate(gradients)
        ]
        return Credit(blocks=blocks, embed=embed)

    def _instead(self, gradient: Tensor, noise: Tensor) -> Tensor:
        if self.options.rest == "zero":
            return 0 * gradient
        if self.options.rest == "signs":
            return gradient * noise[:, :1].sign()
        return noise * gradient.norm(dim=-1, keepdim=True) / noise.norm(dim=-1, keepdim=True)
