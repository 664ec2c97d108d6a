"""One network, one rule, one plain PyTorch training loop: slow, and easy to check by eye.

Written from sections 3 to 6 of the protocol with `torch.nn`, `loss.backward()` and
`torch.optim`. It shares no code with the package, so that agreement between the two means
something. A wrong variant is made by subclassing `PlainRun` and overriding one method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR

SampleBatch = tuple[Tensor, Tensor]


class PlainBlock(nn.Module):
    """LayerNorm → Linear → GELU → Linear."""

    def __init__(self, width: int, w2_std: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)
        )
        nn.init.normal_(self.layers[3].weight, mean=0.0, std=w2_std)
        nn.init.zeros_(self.layers[3].bias)

    def forward(self, h: Tensor) -> Tensor:
        return self.layers(h)


class PlainNet(nn.Module):
    """embed, blocks one by one, out_ln, out_head: created in this order."""

    def __init__(
        self,
        input_dim: int,
        width: int,
        classes: int,
        num_blocks: int,
        *,
        residual_add: bool = True,
        w2_std: float = 0.01,
        terminal_norm: bool = True,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(input_dim, width)
        self.blocks = nn.ModuleList([PlainBlock(width, w2_std) for _ in range(num_blocks)])
        self.out_ln = nn.LayerNorm(width) if terminal_norm else None
        self.out_head = nn.Linear(width, classes)
        self.residual_add = residual_add

    def add(self, h: Tensor, branch: Tensor) -> Tensor:
        return h + branch if self.residual_add else branch

    def readout(self, h: Tensor) -> Tensor:
        return self.out_head(h if self.out_ln is None else self.out_ln(h))

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x)
        for block in self.blocks:
            h = self.add(h, block(h))
        return self.readout(h)


def draw_feedback(rule: str, width: int, classes: int, num_blocks: int) -> list[Tensor]:
    """Random feedback from the global stream; DFA without blocks keeps one for the embedding."""
    if rule == "dfa":
        count = max(num_blocks, 1)
        return [torch.randn(width, classes) / math.sqrt(classes) for _ in range(count)]
    if rule == "fa":
        return [torch.randn(width, width) / math.sqrt(width) for _ in range(num_blocks)]
    return []


class PlainRun:
    """A run: its network, its feedback, its optimizers.

    Args:
        rule: "bp", "fa" or "dfa".
        seed: for the network and, next from the same stream, the feedback.
        input_dim, width, classes, num_blocks: the network's shape.
        k: how many of the last blocks are trained.
        epochs: over how many epochs the learning rate falls to zero.
        learning_rate, weight_decay: of AdamW.
        normalise, epsilon: what a local rule's credit is divided by.
        dtype: of parameters and arithmetic.
        net_options: `residual_add`, `w2_std`, `terminal_norm`.
    """

    def __init__(
        self,
        rule: str,
        seed: int,
        *,
        input_dim: int,
        width: int,
        classes: int,
        num_blocks: int,
        k: int,
        epochs: int,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.01,
        normalise: str = "sample",
        epsilon: float = 1e-6,
        dtype: torch.dtype = torch.float64,
        **net_options: float,
    ) -> None:
        self.rule, self.normalise, self.epsilon = rule, normalise, epsilon
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = PlainNet(input_dim, width, classes, num_blocks, **net_options)
            feedback = draw_feedback(rule, width, classes, num_blocks)
        self.net.to(dtype)
        self.feedback = [matrix.to(dtype) for matrix in feedback]
        self.trained = self.which_blocks(num_blocks, k)
        for index, block in enumerate(self.net.blocks):
            block.requires_grad_(index in self.trained)
        self.optimizers = [
            AdamW(parameters, lr=learning_rate, weight_decay=weight_decay)
            for parameters in self.parameter_groups()
        ]
        self.schedulers = [CosineAnnealingLR(o, T_max=epochs, eta_min=0) for o in self.optimizers]

    def which_blocks(self, num_blocks: int, k: int) -> range:
        """The last k are trained."""
        return range(num_blocks - k, num_blocks)

    def parameter_groups(self) -> list[list[nn.Parameter]]:
        """BP has one optimizer for everything; a local rule has one for each part."""
        embed = list(self.net.embed.parameters())
        readout = list(self.net.out_head.parameters())
        if self.net.out_ln is not None:
            readout = list(self.net.out_ln.parameters()) + readout
        trained = [self.net.blocks[index] for index in self.trained]
        blocks = [list(block.parameters()) for block in trained]
        if self.rule == "bp":
            return [[*embed, *chain.from_iterable(blocks), *readout]]
        return [embed, readout, *blocks]

    def train(self, epochs: Iterable[Sequence[SampleBatch]]) -> PlainRun:
        """Train on the given batches, epoch by epoch."""
        for batches in epochs:
            for x, y in batches:
                self.step(x, y)
            for scheduler in self.schedulers:
                scheduler.step()
        return self

    def step(self, x: Tensor, y: Tensor) -> None:
        """One batch: gradients, then every optimizer."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        if self.rule == "bp":
            self.end_to_end_loss(x, y).backward()
        else:
            self.local_backward(x, y)
        for optimizer in self.optimizers:
            optimizer.step()

    def end_to_end_loss(self, x: Tensor, y: Tensor) -> Tensor:
        """What BP minimises."""
        return cross_entropy(self.net(x), y)

    def local_backward(self, x: Tensor, y: Tensor) -> None:
        """Every part minimises its own loss; nothing flows from one part to another."""
        with torch.no_grad():
            states = [self.net.embed(x)]
            for block in self.net.blocks:
                states.append(self.net.add(states[-1], block(states[-1])))
        to_blocks, to_embed = self.credit(states, y)
        for index in self.trained:
            branch = self.net.blocks[index](states[index].detach())
            self.block_loss(branch, self.applied(to_blocks[index])).backward()
        self.local_loss(self.net.embed(x), self.applied(to_embed)).backward()
        cross_entropy(self.net.readout(states[-1].detach()), y).backward()

    def local_loss(self, output: Tensor, credit: Tensor) -> Tensor:
        """Mean over samples of ⟨output, credit⟩."""
        return (output * credit.detach()).sum(dim=1).mean()

    def block_loss(self, branch: Tensor, credit: Tensor) -> Tensor:
        """What a block minimises under a local rule."""
        return self.local_loss(branch, credit)

    def credit(self, states: list[Tensor], y: Tensor) -> tuple[list[Tensor], Tensor]:
        """Raw credit of every block, and of the embedding."""
        return self.dfa_credit(states, y) if self.rule == "dfa" else self.fa_credit(states, y)

    def dfa_credit(self, states: list[Tensor], y: Tensor) -> tuple[list[Tensor], Tensor]:
        """a_l = e·B_lᵀ; the embedding uses B_0."""
        with torch.no_grad():
            logits = self.net.readout(states[-1])
            error = torch.softmax(logits, dim=1)
            error[torch.arange(len(y)), y] -= 1
        projected = [error @ matrix.T for matrix in self.feedback]
        return projected[: len(self.net.blocks)], projected[0]

    def fa_credit(self, states: list[Tensor], y: Tensor) -> tuple[list[Tensor], Tensor]:
        """a_{L−1} = ∂(batch-mean CE)/∂h_L, a_{l−1} = a_l·B_lᵀ, a_emb = a_0·B_0ᵀ."""
        last = states[-1].detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(cross_entropy(self.net.readout(last), y), last)
        blocks: list[Tensor] = [gradient] * len(self.net.blocks)
        for index in range(len(blocks) - 1, 0, -1):
            blocks[index - 1] = blocks[index] @ self.feedback[index].T
        embed = blocks[0] @ self.feedback[0].T if blocks else gradient
        return blocks, embed

    def applied(self, credit: Tensor) -> Tensor:
        """The credit divided by its RMS + ε: each sample's, the batch's, or not at all."""
        if self.normalise == "sample":
            return credit / (credit.pow(2).mean(dim=1, keepdim=True).sqrt() + self.epsilon)
        if self.normalise == "batch":
            return credit / (credit.pow(2).mean().sqrt() + self.epsilon)
        return credit

    @torch.no_grad()
    def correct(self, x: Tensor, y: Tensor) -> int:
        """How many samples the network names rightly."""
        return int((self.net(x).argmax(dim=1) == y).sum())
