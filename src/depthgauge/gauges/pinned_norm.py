"""Does a network pin the norm of its own stream, so that no growth could show?"""

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
"""What goes into a block is made so many times larger."""

MOVED = math.sqrt(TIMES)
"""A norm that changes by this factor or more is not pinned."""


def pins_its_norm(batch: BatchView) -> bool:
    """Return whether no block can change the norm of the stream, as with a LayerNorm after each.

    Two experiments, each block by itself at the state that it was given: its input 100 times as
    large, and its matrices 100 times as large. A block that adds to the stream hands the first on;
    one that only normalises what it reads shows the second. What neither moves is pinned.
    """
    net = batch.net
    if net.adds:
        return False
    inputs, norms = batch.states[:-1], _medians(batch.states[1:], net)
    try:
        larger = _outputs(net, batch, [TIMES * state for state in inputs])
        if not _is_the_same(_medians(larger, net), norms):
            return False
        stronger = _with_stronger_blocks(net)
        return _is_the_same(_medians(_outputs(stronger, batch, inputs), net), norms)
    except UserError:
        return False


def _medians(streams: list[Tensor] | tuple[Tensor, ...], net: StreamReader) -> Tensor:
    return median_over_samples(stream_norms(streams, net.layout))


def _outputs(
    net: StreamReader, batch: BatchView, inputs: list[Tensor] | tuple[Tensor, ...]
) -> list[Tensor]:
    """What every block makes of the input that is given here, whatever the blocks before made."""
    outputs: list[Tensor] = []

    def after(_: int, output: Tensor) -> None:
        outputs.append(output.detach().clone())

    with hooked(net.blocks, before=lambda index, _: inputs[index].clone(), after=after):
        net.logits(batch.inputs)
    return outputs


def _with_stronger_blocks(net: StreamReader) -> StreamReader:
    """A copy whose blocks have larger matrices; gains and biases, which are vectors, stay."""
    stronger = net.in_precision(net.dtype)
    matrices = {p for block in stronger.blocks for p in block.parameters() if p.dim() > 1}
    with torch.no_grad():
        for matrix in matrices:
            matrix.mul_(TIMES)
    return stronger


def _is_the_same(found: Tensor, before: Tensor) -> bool:
    """Whether every norm is about what it was; one that is zero or not finite tells nothing."""
    change = (found / before).log().abs()
    return bool((change < math.log(MOVED)).all())
