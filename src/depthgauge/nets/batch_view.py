"""The data of one batch that gauges read: the network's states, logits, losses and gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from depthgauge.losses.labels import IGNORED, class_axis, has_label
from depthgauge.nets.batch import call_network, copy_inputs
from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.replay import Replay
from depthgauge.nets.preserve_state import preserve_state

if TYPE_CHECKING:
    from depthgauge.nets.stream_reader import StreamReader


@dataclass(frozen=True)
class BatchView:
    """One batch and what a network computed on it.

    Attributes:
        net: the network, which can be run again on `inputs`.
        inputs: the network's inputs.
        labels: (samples,), or (samples, tokens).
        states: h_0 … h_L, in the network's own shape.
        logits: the network's output.
        losses: each sample's own loss, float64.
        error: e = ∂loss_i/∂logits, float64.
        unit_gradients: g_l/‖e‖ for l = 0 … L, with the gradient g_l of each sample's own loss at
            h_l. They are computed from the error scaled to norm 1. So they do not underflow for a
            confident sample, as g_l would. Empty if autograd's gradients are wrong (see the
            reference check).
    """

    net: StreamReader
    inputs: Any
    labels: Tensor
    states: tuple[Tensor, ...]
    logits: Tensor
    losses: Tensor
    error: Tensor
    unit_gradients: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def counted(self) -> Tensor:
        """True for each sample that has a loss: at least one of its labels is not −100."""
        return has_label(self.labels)

    @property
    def class_axis(self) -> int:
        """The axis of the classes in the logits and the error."""
        return class_axis(self.logits, self.labels)

    @property
    def labels_summed(self) -> Tensor:
        """The number of labels that each sample's loss sums over; 1 if the loss is a mean.

        Targets that are not class numbers count as one label at each position of the output.
        """
        outputs = self.logits.select(self.class_axis, 0)
        if self.net.loss.averages or outputs.dim() <= 1:
            return torch.ones(len(self), device=self.labels.device)
        per_position = not self.labels.is_floating_point() and self.labels.shape == outputs.shape
        counted = self.labels != IGNORED if per_position else torch.ones_like(outputs)
        return counted.flatten(1).sum(1)

    @cached_property
    def replay(self) -> Replay:
        """The readout and the blocks of the network as functions, at this batch."""
        net, model = self.net, self.net.model
        passage = Passage(net.argument, "branch" if net.adds else "stream", copies=True)

        def run() -> Tensor:
            return call_network(model, copy_inputs(self.inputs, net.device, net.dtype))

        with preserve_state(model), Cut(model, net.blocks) as cut:
            return Replay(model, net.blocks, run, cut.record(run, passes=passage), passage)

    def up_to(self, blocks: int) -> BatchView:
        """Return the view of the first blocks alone, as if the stream ended after them."""
        states, gradients = self.states[: blocks + 1], self.unit_gradients[: blocks + 1]
        return replace(self, states=states, unit_gradients=gradients)

    @cached_property
    def error_size(self) -> Tensor:
        """‖e‖ of each sample over all its logits."""
        return size_of_samples(self.error)

    @property
    def gradients(self) -> tuple[Tensor, ...]:
        """g_0 … g_L in float64, the gradients of each sample's own loss."""
        return tuple(self.gradient(state) for state in range(len(self.unit_gradients)))

    def gradient(self, state: int) -> Tensor:
        """Return g_l in float64, where `state` is l; −1 is g_L."""
        unit = self.unit_gradients[state]
        size = along_axis(self.error_size, unit, self.net.layout.sample_axis)
        return size * unit.double()


def size_of_samples(vectors: Tensor) -> Tensor:
    """Return the norm of each sample (first axis) over all its entries, without underflow."""
    flat = vectors.reshape(len(vectors), -1)
    largest = flat.abs().amax(1, keepdim=True)
    scaled = flat / torch.where(largest > 0, largest, 1.0)
    size: Tensor = torch.linalg.vector_norm(scaled, dim=1) * largest.squeeze(1)
    return size


def along_axis(values: Tensor, like: Tensor, axis: int) -> Tensor:
    """Reshape one value per sample so that it can multiply `like`, whose samples are on `axis`."""
    shape = [1] * like.dim()
    shape[axis] = len(values)
    return values.view(shape)
