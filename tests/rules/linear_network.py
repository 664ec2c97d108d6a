"""A linear residual network on which bridges can be trained in seconds."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context, Rule

Feedback = dict[str, Tensor]


class LinearNetwork:
    """h_{l+1} = h_l + A_l·h_l, logits = W·h_L: the costate is g_l = (1 + A_l)ᵀ·g_{l+1}.

    Logits are small, as those of an
    untrained network: a sample's error then says almost all there is to say about its loss.
    """

    def __init__(self, width: int = 64, blocks: int = 2, classes: int = 4) -> None:
        self.random = torch.Generator().manual_seed(0)
        self.width, self.classes, self.num_blocks = width, classes, blocks
        self.branches = [self.normal(width, width) * 0.1 / width**0.5 for _ in range(blocks)]
        self.head = self.normal(classes, width) * 0.1 / width**0.5
        self.shape = NetShape(((width,),) * (blocks + 1), (classes,), classes)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.random)

    def readout(self, stream: Tensor) -> Tensor:
        return stream @ self.head.T

    def fresh_batch(
        self, rule: Rule, feedback: Feedback, samples: int
    ) -> tuple[Context, list[Tensor]]:
        """What a rule may see of new samples, and the true gradients g_0 … g_L."""
        states = [self.normal(samples, self.width)]
        for branch in self.branches:
            states.append(states[-1] + states[-1] @ branch.T)
        target = torch.randint(self.classes, (samples,), generator=self.random)
        error = self.readout(states[-1]).softmax(1) - one_hot(target, self.classes)
        gradients = [error @ self.head]
        for branch in reversed(self.branches):
            gradients.insert(0, gradients[0] + gradients[0] @ branch)
        shape = rule.noise_shape(states)
        noise = None if shape is None else self.normal(*shape)
        offers = {"error": error, "readout": self.readout}
        declared = {need: offers[need] for need in rule.needs}
        return Context(states, target, feedback, 1.0, declared, noise=noise), gradients

    def trained_feedback(self, rule: Rule, batches: int, samples: int = 32) -> Feedback:
        """The rule's feedback after learning from so many fresh batches."""
        feedback = dict(rule.feedback(self.shape, torch.Generator().manual_seed(5)))
        for _ in range(batches):
            feedback |= rule.learn(self.fresh_batch(rule, feedback, samples)[0])
        return feedback
