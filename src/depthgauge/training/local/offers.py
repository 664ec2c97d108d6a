"""Offer a rule what it may see of a recorded forward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from depthgauge.losses.contract import Loss, in_full_precision
from depthgauge.nets.cut.recording import Recording
from depthgauge.nets.cut.replay import Replay
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.offered_context import Offers


@dataclass(frozen=True)
class Pass:
    """A recorded forward pass of a batch.

    Attributes:
        net: the network.
        recording: the pass.
        loss_of_samples: the loss of the run.
        loss: the mean loss over the labels of the batch, with its graph.
        labels: the labels, or other targets, of the batch.
        blocks: the number L of blocks.
        make_replay: makes the readout and the blocks as functions, for networks that do not have
            them.
    """

    net: nn.Module
    recording: Recording
    loss_of_samples: Loss
    loss: Tensor
    labels: Tensor
    blocks: int
    make_replay: Callable[[], Replay]

    @cached_property
    def replay(self) -> Replay:
        """The readout and the blocks of the network as functions."""
        return self.make_replay()

    @property
    def residual(self) -> bool:
        """Whether the blocks' functions give branches; if not, they give the next state."""
        return isinstance(self.net, ResidualMLP) and self.net.residual_add

    @property
    def samples(self) -> int:
        """The number of samples in the batch."""
        return len(self.labels)

    @cached_property
    def divisor(self) -> Tensor:
        """What the sum of the samples' losses is divided by: the number of labels that count."""
        return self.loss_of_samples.labels(self.labels).sum().clamp(min=1)

    @property
    def states(self) -> Sequence[Tensor]:
        """The states h_0 … h_L; those in bfloat16 as float32, in which rules compute."""
        return [in_full_precision(state) for state in self.recording.states[: self.blocks + 1]]

    def offers(self) -> Offers:
        """Return for each need a function that makes what a rule gets."""
        return {
            "error": self._error,
            "gradient": lambda: [self.divisor * g for g in self.gradients(self.loss)],
            "readout": self._readout,
            "blocks": self._blocks,
        }

    def gradients(self, loss: Tensor) -> list[Tensor]:
        """Return the gradients of a loss at h_0 … h_L; zeros where the stream has none."""
        found = self.recording.gradients(loss)
        return [
            state.new_zeros(state.shape) if gradient is None else in_full_precision(gradient)
            for gradient, state in zip(found, self.states, strict=False)
        ]

    @property
    def reaches_last(self) -> bool:
        """Whether the pass has a gradient at h_L; it has none if the last block is frozen."""
        return not self.blocks or self.blocks - 1 in self.recording.trained

    def last_gradient(self) -> Tensor:
        """Return g_L of each sample's own loss."""
        if not self.blocks:
            return self.divisor * self.gradients(self.loss)[0]
        return self.divisor * in_full_precision(self.recording.last_gradient(self.loss))

    @torch.no_grad()
    def _error(self) -> Tensor:
        output = in_full_precision(self.recording.output.detach())
        return self.loss_of_samples.error(output, self.labels)

    def _readout(self) -> Callable[[Tensor], Tensor]:
        if isinstance(self.net, ResidualMLP):
            return self.net.readout
        if not self.blocks:  # the network is cut at its readout, as if that were a block
            return self.replay.blocks()[0]
        return self.replay.readout

    def _blocks(self) -> list[Callable[[Tensor], Tensor]]:
        if isinstance(self.net, ResidualMLP):
            return list(self.net.blocks)
        return self.replay.blocks()[: self.blocks]
