"""Rules for tests: small, and each made to show one thing."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch.nn.functional import cross_entropy

from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA


class TrueGradient(Rule):
    """The true gradient as local credit: backpropagation the long way round."""

    name = "true_gradient"
    summary = "the true gradient, applied block by block"
    needs = frozenset({"gradient"})

    def credit(self, context: Context) -> Credit:
        return Credit(blocks=context.gradient[1:], embed=context.gradient[0])


class SevenTimes(TrueGradient):
    """Credit of a size that nothing else has."""

    name = "seven_times"

    def credit(self, context: Context) -> Credit:
        own = super().credit(context)
        return Credit(blocks=[7 * block for block in own.blocks], embed=7 * own.embed)


class GradientByHand(Rule):
    """The true gradient again, worked out from the block functions and the readout."""

    name = "gradient_by_hand"
    summary = "the chain rule through the functions the context offers"
    needs = frozenset({"readout", "blocks"})

    def credit(self, context: Context) -> Credit:
        def loss(stream: torch.Tensor) -> torch.Tensor:
            return cross_entropy(context.readout(stream), context.target, reduction="sum")

        gradients = [torch.func.grad(loss)(context.states[-1])]
        for block, state in reversed(list(zip(context.blocks, context.states[:-1], strict=True))):
            _, pull_back = torch.func.vjp(block, state)
            gradients.append(gradients[-1] + pull_back(gradients[-1])[0])
        embed, *blocks = reversed(gradients)
        return Credit(blocks=blocks, embed=embed)


class OneByOneDFA(DFA):
    """DFA that cannot be lifted, because it looks at a number."""

    name = "one_by_one_dfa"
    batched = False

    def credit(self, context: Context) -> Credit:
        assert context.error.abs().max().item() <= 1
        return super().credit(context)


class OneByOneFA(FA):
    """FA asked for one run at a time."""

    name = "one_by_one_fa"
    batched = False


class Peeking(Rule):
    """Uses whatever `wanted` says, and declares whatever `needs` says."""

    name = "peeking"
    summary = "reads something it may not have declared"
    wanted: ClassVar[str] = "gradient"

    def credit(self, context: Context) -> Credit:
        getattr(context, self.wanted)
        return Credit(blocks=context.states[1:], embed=context.states[0])


class Recording(Rule):
    """Keeps what it was told about the progress of training."""

    name = "recording"
    summary = "credit is the state itself; progress is written down"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self.progress: list[float] = []

    def credit(self, context: Context) -> Credit:
        self.progress.append(context.progress)
        return Credit(blocks=context.states[1:], embed=context.states[0])
