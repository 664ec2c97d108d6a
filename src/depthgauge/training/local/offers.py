"""Offer a rule what it may see of a recorded forward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from depthgauge.nets.cross_entropy import cross_entropy_and_error
from depthgauge.nets.cut.recording import Recording
from depthgauge.nets.cut.replay import Replay
from depthgauge.nets.layout import Layout, layout_of
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.offered_context import Offers


@dataclass(frozen=True)
class Pass:
    """A recorded forward pass of a batch.

    Attributes:
        net: the network.
        recording: the pass.
        loss: the mean loss of the batch, with its graph.
        labels: the labels of the batch.
        blocks: the number L of blocks.
        replay: the readout and the blocks as functions, for networks that do not have them.
    """

    net: nn.Module
    recording: Recording
    loss: Tensor
    labels: Tensor
    blocks: int
    replay: Replay

    @property
    def layout(self) -> Layout:
        """Which axes of the states are samples and features."""
        return layout_of([state.shape for state in self.states], self.samples)

    @property
    def residual(self) -> bool:
        """Whether the blocks' functions give branches; if not, they give the next state."""
        return isinstance(self.net, ResidualMLP) and self.net.residual_add

    @property
    def samples(self) -> int:
        """The number of samples in the batch."""
        return len(self.labels)

    @property
    def states(self) -> Sequence[Tensor]:
        """The states h_0 … h_L."""
        return self.recording.states[: self.blocks + 1]

    def offers(self) -> Offers:
        """Return for each need a function that makes what a rule gets."""
        return {
            "error": self._error,
            "gradient": lambda: [self.samples * g for g in self.gradients(self.loss)],
            "readout": self._readout,
            "blocks": self._blocks,
        }

    def gradients(self, loss: Tensor) -> list[Tensor]:
        """Return the gradients of a loss at h_0 … h_L; zeros where the stream has none."""
        found = self.recording.gradients(loss)
        return [
            state.new_zeros(state.shape) if gradient is None else gradient
            for gradient, state in zip(found, self.states, strict=False)
        ]

    def last_gradient(self) -> Tensor:
        """Return g_L of each sample's own loss."""
        if not self.blocks:
            return self.samples * self.gradients(self.loss)[0]
        return self.samples * self.recording.last_gradient(self.loss)

    @torch.no_grad()
    def _error(self) -> Tensor:
        output, labels = self.recording.output.detach(), self.labels
        return cross_entropy_and_error(output.unsqueeze(0), labels.unsqueeze(0))[1][0]

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
