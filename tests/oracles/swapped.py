"""Swapped credit in the plain loop: noise as long as the credit, sample by sample, for some blocks.

Section 12 of the protocol. The noise of a block at a step is handed in as a function, so that both
sides draw the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import torch
from oracles.plain_loop import PlainRun
from torch import Tensor
from torch.nn.functional import cross_entropy

Noise = Callable[[int, int, int, torch.Size], Tensor]
"""From epoch, step in it, block and shape to standard normal numbers."""


class SwappedRun(PlainRun):
    """The blocks in `swapped` learn from noise; those in `kept` stay as they are."""

    swapped: Collection[int] = ()
    kept: Collection[int] = ()
    noise: Noise
    steps_per_epoch: int
    done = 0

    def which_blocks(self, num_blocks: int, k: int) -> list[int]:
        return [block for block in range(num_blocks - k, num_blocks) if block not in self.kept]

    def step(self, x: Tensor, y: Tensor) -> None:
        super().step(x, y)
        self.done += 1

    def as_noise(self, block: int, credit: Tensor) -> Tensor:
        epoch, step = divmod(self.done, self.steps_per_epoch)
        noise = self.noise(epoch, step, block, credit.shape).to(credit.dtype)
        rows = [
            row * float(length.pow(2).sum().sqrt()) / float(row.pow(2).sum().sqrt())
            for row, length in zip(noise, credit, strict=True)
        ]
        return torch.stack(rows)

    def end_to_end_loss(self, x: Tensor, y: Tensor) -> Tensor:
        """BP's loss; a swapped block is cut out of it and gets ⟨f, noise⟩ instead."""
        h, extra = self.net.embed(x), 0.0
        for index, block in enumerate(self.net.blocks):
            if index in self.swapped:
                noise = self.as_noise(index, self.gradient_at_output(index, x, y))
                frozen = {name: p.detach() for name, p in block.named_parameters()}
                extra = extra + (block(h.detach()) * noise).sum()
                h = self.net.add(h, torch.func.functional_call(block, frozen, (h,)))
            else:
                h = self.net.add(h, block(h))
        return cross_entropy(self.net.readout(h), y) + extra

    def gradient_at_output(self, index: int, x: Tensor, y: Tensor) -> Tensor:
        """∂(batch-mean CE)/∂h_{l+1}: the network again, from the output of the block on."""
        with torch.no_grad():
            h = self.net.embed(x)
            for block in self.net.blocks[: index + 1]:
                h = self.net.add(h, block(h))
        start = h.requires_grad_(True)
        h = start
        for block in self.net.blocks[index + 1 :]:
            h = self.net.add(h, block(h))
        (gradient,) = torch.autograd.grad(cross_entropy(self.net.readout(h), y), start)
        return gradient

    def local_backward(self, x: Tensor, y: Tensor) -> None:
        self.place = 0
        super().local_backward(x, y)

    def block_loss(self, branch: Tensor, credit: Tensor) -> Tensor:
        """Blocks come in the order of `trained`."""
        index = self.trained[self.place]
        self.place += 1
        return self.local_loss(
            branch, self.as_noise(index, credit) if index in self.swapped else credit
        )
