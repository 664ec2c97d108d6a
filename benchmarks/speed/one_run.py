"""One run trained by autograd, as in *loop* and *script*."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Context
from depthgauge.rules.normalisation import compute_credit
from depthgauge.rules.offered_context import offer_context
from depthgauge.tasks.base import Task

from .cases import Case


class OneRun:
    """A network whose last k blocks are trained by a rule, each part by its own local loss."""

    def __init__(self, task: Task, case: Case, k: int, *, fused: bool) -> None:
        torch.manual_seed(0)
        self.rule = choose_rule(case.rule).build()
        self.net = ResidualMLP(task.input_dim, case.width, task.num_classes, case.blocks)
        self.feedback = self.rule.feedback(NetShape.of(self.net), torch.default_generator)
        for block in self.net.blocks[: case.blocks - k]:
            block.requires_grad_(False)
        self.optimizers = self._fused() if fused else self._one_for_each_part()

    def _fused(self) -> Sequence[torch.optim.Optimizer]:
        trained = [p for p in self.net.parameters() if p.requires_grad]
        return [torch.optim.AdamW(trained, lr=1e-3, weight_decay=0.01, fused=True)]

    def _one_for_each_part(self) -> Sequence[torch.optim.Optimizer]:
        parts = [
            self.net.embed,
            *self.net.blocks,
            torch.nn.ModuleList([self.net.out_ln, self.net.out_head]),
        ]
        trained = [[p for p in part.parameters() if p.requires_grad] for part in parts]
        return [torch.optim.AdamW(own, lr=1e-3, weight_decay=0.01) for own in trained if own]

    def step(self, x: Tensor, y: Tensor) -> None:
        """Train on one batch."""
        loss = cross_entropy(self.net(x), y) if self.rule.end_to_end else self._local(x, y)
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in self.optimizers:
            optimizer.step()

    def _local(self, x: Tensor, y: Tensor) -> Tensor:
        states, branches = [self.net.embed(x)], []
        for block in self.net.blocks:
            stream = states[-1].detach()
            branches.append(block(stream))
            states.append(stream + branches[-1])
        logits = self.net.readout(states[-1].detach())
        with torch.no_grad():
            context = self._context([state.detach() for state in states], logits.detach(), y)
            credit = compute_credit(self.rule, context)
            self.feedback = self.feedback | dict(self.rule.learn(context))
        given = zip((states[0], *branches), (credit.embed, *credit.blocks), strict=True)
        local = torch.stack([(output * own).sum(-1).mean() for output, own in given]).sum()
        return cross_entropy(logits, y) + local

    def _context(self, states: Sequence[Tensor], logits: Tensor, y: Tensor) -> Context:
        shape = self.rule.noise_shape(states)
        return offer_context(
            self.rule,
            states,
            target=y,
            feedback=self.feedback,
            progress=0.0,
            offers={
                "error": lambda: CrossEntropy().error(logits, y),
                "readout": lambda: self.net.readout,
                "blocks": lambda: list(self.net.blocks),
            },
            noise=None if shape is None else torch.randn(shape),
        )

    @torch.no_grad()
    def correct(self, x: Tensor, y: Tensor) -> int:
        """Return how many samples of a batch the network classifies correctly."""
        return int((self.net(x).argmax(-1) == y).sum())
