"""Detect networks that hold the norm of their stream fixed, so that D1 cannot see growth."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.gauges.norms import median_over_samples, stream_norms
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.boundaries import hooked
from depthgauge.nets.stream_reader import StreamReader

TIMES = 100.0
"""The factor by which a block's input, or its matrices, are enlarged."""

NOT_PINNED = math.sqrt(TIMES)
"""A norm that changes by this factor or more is not pinned."""


def is_norm_pinned(batch: BatchView) -> bool:
    """Return whether no block can change the stream's norm (as with a LayerNorm after each block).

    Each block is run twice more: once with its input 100 times as large, and once with its matrices
    100 times as large. The larger input changes the output's norm if the block adds its input to
    its output. The larger matrices change the output's norm if the block normalises only its
    input. If every block's output keeps its norm in both runs, the norm is pinned.
    """
    net = batch.net
    if net.adds:
        return False
    inputs, norms = batch.states[:-1], _medians(batch.states[1:], net)
    try:
        larger = _outputs(net, batch, [TIMES * state for state in inputs])
        if not _are_equal(_medians(larger, net), norms):
            return False
        stronger = _with_stronger_blocks(net)
        return _are_equal(_medians(_outputs(stronger, batch, inputs), net), norms)
    except UserError:
        return False


def _medians(streams: list[Tensor] | tuple[Tensor, ...], net: StreamReader) -> Tensor:
    return median_over_samples(stream_norms(streams, net.layout))


def _outputs(
    net: StreamReader, batch: BatchView, inputs: list[Tensor] | tuple[Tensor, ...]
) -> list[Tensor]:
    """Return every block's output if the blocks get these `inputs` instead of the stream."""
    outputs: list[Tensor] = []

    def after(_: int, output: Tensor) -> None:
        outputs.append(output.detach().clone())

    def before(index: int, _: Tensor) -> Tensor:
        return inputs[index].clone()

    with hooked(net.blocks, before=before, after=after, argument=net.argument):
        net.logits(batch.inputs)
    return outputs


def _with_stronger_blocks(net: StreamReader) -> StreamReader:
    """Return a copy of the network with enlarged matrices; gains and biases (vectors) stay."""
    stronger = net.in_precision(net.dtype)
    matrices = {p for block in stronger.blocks for p in block.parameters() if p.dim() > 1}
    with torch.no_grad():
        for matrix in matrices:
            matrix.mul_(TIMES)
    return stronger


def _are_equal(norms: Tensor, before: Tensor) -> bool:
    """Return whether all norms changed by less than NOT_PINNED; False if any is 0 or not finite."""
    change = (norms / before).log().abs()
    return bool((change < math.log(NOT_PINNED)).all())
