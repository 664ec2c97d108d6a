"""The plain loop for the rules that it does not know itself; their credit is that of slow oracles.

The feedback with which a run begins is given, since how rules draw it is tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from oracles import equilibrium
from oracles.bridges import SlowCreditBridge, SlowStateBridge
from oracles.plain_loop import PlainRun, SampleBatch
from torch import Tensor
from torch.nn.functional import cross_entropy

Noise = Callable[[int, int, Sequence[Tensor]], Tensor]
"""The noise of a rule, from the epoch, the step in it, and the states."""


class EveryRule(PlainRun):
    """A run of sdfa, drtp, noise, ep or a bridge; `begin` gives it what it begins with."""

    def begin(self, feedback: Mapping[str, Tensor], options: Any, noise: Noise) -> EveryRule:
        """Take the feedback, the rule's options and its noise."""
        self.options, self.noise = options, noise
        self.matrices = [matrix.clone() for matrix in feedback.get("B", [])]
        bridges = {"state_bridge": SlowStateBridge, "credit_bridge": SlowCreditBridge}
        self.bridge = (
            bridges[self.rule](self.net, feedback, options) if self.rule in bridges else None
        )
        return self

    def train(self, epochs: Sequence[Sequence[SampleBatch]]) -> EveryRule:
        """As the plain loop; every step knows where it is."""
        for epoch, batches in enumerate(epochs):
            for step, (x, y) in enumerate(batches):
                self.x, self.place = x, (epoch, step)
                self.progress = epoch / len(epochs)
                self.step(x, y)
            for scheduler in self.schedulers:
                scheduler.step()
        return self

    def credit(self, states: list[Tensor], y: Tensor) -> tuple[list[Tensor], Tensor]:
        """Raw credit of every block, and of the embedding."""
        if self.rule in ("sdfa", "drtp"):
            source = self.source(states, y)
            projected = [source @ matrix.T for matrix in self.matrices]
            return projected, projected[0]
        if self.rule == "ep":
            embed, *blocks = equilibrium.credit(self.net, self.x, y, self.options)
            return blocks, embed
        if self.rule == "noise":
            return self.noise_credit(states, y)
        return self.bridge_credit(states, y)

    def source(self, states: list[Tensor], y: Tensor) -> Tensor:
        """The error's sign, or minus the target."""
        with torch.no_grad():
            hot = torch.eye(self.net.out_head.out_features, dtype=states[0].dtype)[y]
            if self.rule == "drtp":
                return -hot
            return (torch.softmax(self.net.readout(states[-1]), 1) - hot).sign()

    def noise_credit(self, states: list[Tensor], y: Tensor) -> tuple[list[Tensor], Tensor]:
        """Fresh directions with the norms of the true gradients; the embedding gets the truth."""
        h = states[0].detach().requires_grad_(True)
        stream = [h]
        for block in self.net.blocks:
            stream.append(self.net.add(stream[-1], block(stream[-1])))
        loss = cross_entropy(self.net.readout(stream[-1]), y, reduction="sum")
        embed, *gradients = torch.autograd.grad(loss, stream)
        drawn = self.noise(*self.place, states)
        blocks = []
        for gradient, direction in zip(gradients, drawn, strict=True):
            rows = [
                g.norm() * n / n.norm()
                for g, n in zip(gradient, direction.to(gradient), strict=True)
            ]
            blocks.append(torch.stack(rows))
        return blocks, embed

    def bridge_credit(self, states: list[Tensor], y: Tensor) -> tuple[list[Tensor], Tensor]:
        """The bridge's credit, after which the bridge learns."""
        if self.rule == "state_bridge":
            embed, *blocks = self.bridge.credit(states, y)
            self.bridge.learn(states, y)
        else:
            embed, *blocks = self.bridge.credit(states, y, self.progress)
            self.bridge.learn(states, y, self.noise(*self.place, states).double())
        return blocks, embed
