"""One network of the package, one rule, one plain training loop: slow, and easy to check by eye.

The network is run in pieces, each with a detached input and a loss of its own. The pieces are the
network's own modules; their forward passes are held to `oracles.architectures`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR

SampleBatch = tuple[Tensor, Tensor]
IMAGE, TOKENS = 4, 3
"""The axes of a stream of images (channels second), and of tokens (features last)."""


class NetworkLoop:
    """Train a network by `bp`, `dfa`, `fa`, or by `gradient`: the true gradient as local credit."""

    def __init__(self, net: nn.Module, rule: str, feedback: Mapping[str, Tensor], k: int) -> None:
        self.net, self.rule, self.feedback = net, rule, feedback
        self.frozen = len(net.blocks) - k
        for block in net.blocks[: self.frozen]:
            block.requires_grad_(False)

    def train(self, epochs: Iterable[list[SampleBatch]], *, count: int, rate: float, decay: float):
        trained = [p for p in self.net.parameters() if p.requires_grad]
        optimizer = AdamW(trained, lr=rate, weight_decay=decay)
        schedule = CosineAnnealingLR(optimizer, count)
        for batches in epochs:
            for x, y in batches:
                optimizer.zero_grad()
                self.loss(x, y).backward()
                optimizer.step()
            schedule.step()
        return self.net

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss of the whole network, or the sum of the losses of its pieces."""
        if self.rule == "bp":
            return self.mean_loss(self.net(x), y)
        outputs = [self.net.embed(x)]
        for block in self.net.blocks:
            outputs.append(block(outputs[-1].detach()))
        last = outputs[-1].detach().requires_grad_()
        logits = self.net.readout(last)
        total = self.mean_loss(logits, y)
        labels = int((y != -100).sum())
        for output, credit in zip(outputs, self.credit(x, y, outputs, last), strict=True):
            if output.requires_grad:
                total = total + (output * credit).sum() / labels
        return total

    def mean_loss(self, logits: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(logits.reshape(-1, logits.shape[-1]), y.flatten())

    def credit(self, x: Tensor, y: Tensor, outputs: list[Tensor], last: Tensor) -> list[Tensor]:
        """The credit of the embedding, then of each block."""
        if self.rule == "gradient":
            return self.true_gradients(x, y)
        if self.rule == "dfa":
            logits = self.net.readout(last).detach()
            credit = [self.direct(logits, y, state, i) for i, state in enumerate(outputs)]
        else:
            (gradient,) = torch.autograd.grad(self.mean_loss(self.net.readout(last), y), last)
            credit = [gradient]
            for block in reversed(range(len(outputs) - 1)):
                credit.insert(0, self.back(credit[0], outputs[block], block))
        return [self.normalised(own) for own in credit]

    def true_gradients(self, x: Tensor, y: Tensor) -> list[Tensor]:
        states = [self.net.embed(x).detach().requires_grad_()]
        for block in self.net.blocks:
            states.append(block(states[-1]))
        loss = self.mean_loss(self.net.readout(states[-1]), y)
        return [g * int((y != -100).sum()) for g in torch.autograd.grad(loss, states)]

    def direct(self, logits: Tensor, y: Tensor, state: Tensor, index: int) -> Tensor:
        """The error through a matrix: each token's own, or one for all positions of a sample."""
        error = torch.softmax(logits, -1)
        for place in torch.cartesian_prod(*(torch.arange(n) for n in y.shape)).reshape(-1, y.dim()):
            at = tuple(place.tolist())
            if y[at] == -100:
                error[at] = 0
            else:
                error[(*at, int(y[at]))] -= 1
        if "B" in self.feedback:
            matrix = self.feedback["B"][max(index - 1, 0)]
        else:
            matrix = self.feedback["B.embed" if index == 0 else f"B.{index - 1}"]
        credit = error @ matrix.T
        if state.dim() == IMAGE:
            return credit[:, :, None, None].expand_as(state)
        return credit if credit.dim() == TOKENS else credit[:, None, :].expand_as(state)

    def back(self, above: Tensor, below: Tensor, block: int) -> Tensor:
        """Credit handed down through a matrix; pixels below get that of the pixel above them."""
        matrix = self.feedback["B"][block] if "B" in self.feedback else self.feedback[f"B.{block}"]
        if below.dim() == TOKENS:
            return above @ matrix.T
        spread = above.repeat_interleave(below.shape[2] // above.shape[2], 2)
        spread = spread.repeat_interleave(below.shape[3] // above.shape[3], 3)
        return torch.einsum("nchw,dc->ndhw", spread, matrix)

    def normalised(self, credit: Tensor) -> Tensor:
        return torch.stack([own / (own.square().mean().sqrt() + 1e-6) for own in credit])
