"""What the engine is measured against: one network at a time, written as well as a loop can be.

Tensors in memory, batched augmentation, autograd, fused AdamW. BP and DFA, last k blocks trained.
"""

from __future__ import annotations

from itertools import chain, count

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.tasks.base import Task
from depthgauge.training.batches import Batches


class PlainLoop:
    """Trains one network, step by step."""

    def __init__(self, task: Task, rule: str, width: int, blocks: int, k: int) -> None:
        torch.manual_seed(0)
        self.rule, self.blocks = rule, blocks
        self.net = ResidualMLP(task.input_dim, width, task.num_classes, blocks)
        for block in self.net.blocks[: blocks - k]:
            block.requires_grad_(False)
        trained = [p for p in self.net.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-3, weight_decay=0.01, fused=True)
        self.feedback = torch.randn(blocks, width, task.num_classes) / task.num_classes**0.5
        self.batches = chain.from_iterable(map(Batches(task, [0], 128).epoch, count()))

    def steps(self, count: int) -> None:
        """Train on the next `count` batches."""
        for _ in range(count):
            batch = next(self.batches)
            x, y = batch.inputs[0], batch.labels[0]
            loss = self._bp_loss(x, y) if self.rule == "bp" else self._dfa_loss(x, y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()

    def _bp_loss(self, x: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(self.net(x), y)

    def _dfa_loss(self, x: Tensor, y: Tensor) -> Tensor:
        """The sum of all local losses: blocks see detached inputs, so each has its own gradient."""
        net = self.net
        first = stream = net.embed(x)
        branches = []
        for block in net.blocks:
            stream = stream.detach()
            branches.append(block(stream))
            stream = stream + branches[-1]
        logits = net.readout(stream.detach())
        loss = cross_entropy(logits, y)
        with torch.no_grad():
            error = logits.softmax(-1) - one_hot(y, logits.shape[1])
            credits = [error @ matrix.T for matrix in self.feedback]
            credits = [a / (a.square().mean(-1, keepdim=True).sqrt() + 1e-6) for a in credits]
        loss = loss + (first * credits[0]).sum() / len(x)
        for branch, credit in zip(branches, credits, strict=True):
            if branch.requires_grad:
                loss = loss + (branch * credit).sum() / len(x)
        return loss
