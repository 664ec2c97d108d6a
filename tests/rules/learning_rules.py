"""Rules for tests that change their feedback while they train, each made to show one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor

from depthgauge.rules.contract import Context, Credit, Rule
from depthgauge.rules.credit_bridge import CreditBridge
from depthgauge.rules.state_bridge import StateBridge


class Counting(Rule):
    """Counts its batches; its credit is the state times that count, so it shows what it had."""

    name = "counting"
    summary = "credit grows with the number of batches that were learned from"

    def feedback(self, net, generator) -> dict[str, Tensor]:
        return {"count": torch.zeros(()), "never": torch.ones(2)}

    def credit(self, context: Context) -> Credit:
        embed, *blocks = (context.feedback["count"] * state for state in context.states)
        return Credit(blocks=blocks, embed=embed)

    def learn(self, context: Context) -> Mapping[str, Tensor]:
        return {"count": context.feedback["count"] + 1}


class Noisy(Rule):
    """Keeps the noise that it was last given."""

    name = "noisy"
    summary = "remembers its noise"
    numbers: ClassVar[int] = 6

    def feedback(self, net, generator) -> dict[str, Tensor]:
        return {"seen": torch.zeros(self.numbers)}

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...]:
        return (self.numbers,)

    def credit(self, context: Context) -> Credit:
        embed, *blocks = context.states
        return Credit(blocks=blocks, embed=embed + context.noise.sum())

    def learn(self, context: Context) -> Mapping[str, Tensor]:
        return {"seen": context.noise}


class Undeclared(Noisy):
    """Uses noise without saying how much."""

    name = "undeclared"

    def noise_shape(self, states: Sequence[Tensor]) -> None:
        return None


class Learning(Counting):
    """Learns whatever `learned` is, right or wrong."""

    name = "learning"
    learned: ClassVar[dict[str, Tensor]] = {}

    def learn(self, context: Context) -> Mapping[str, Tensor]:
        return self.learned


class Twins(Rule):
    """Two names for one and the same tensor, as where a target network is caught up with."""

    name = "twins"
    summary = "copies itself"

    def feedback(self, net, generator) -> dict[str, Tensor]:
        return {"one": torch.zeros(3), "other": torch.ones(3)}

    def credit(self, context: Context) -> Credit:
        embed, *blocks = context.states
        return Credit(blocks=blocks, embed=embed)

    def learn(self, context: Context) -> Mapping[str, Tensor]:
        moved = context.feedback["one"] + context.states[0].mean()
        return {"one": moved, "other": moved}


class OneByOneStateBridge(StateBridge):
    """State Bridge asked for one run at a time."""

    name = "one_by_one_state_bridge"
    batched = False


class OneByOneCreditBridge(CreditBridge):
    """Credit Bridge asked for one run at a time."""

    name = "one_by_one_credit_bridge"
    batched = False
