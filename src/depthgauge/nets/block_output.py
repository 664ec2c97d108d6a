"""Detect whether blocks return the whole stream, or only a branch that the network adds to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.batch import call_network
from depthgauge.nets.boundaries import hooked, overwriting
from depthgauge.nets.cut.recording import Recording

CLOSE = 1e-3
"""Two streams whose relative distance is at most this count as equal, in any precision."""


def do_blocks_return_branch(recording: Recording, is_last_output_added: Callable[[], bool]) -> bool:
    """Return whether the blocks return branches that the network adds to the stream.

    Each block's output is compared with the next block's input. If these comparisons do not decide,
    or if there is only one block, the function `is_last_output_added` is called and decides. Where
    some blocks return the stream, the network may change it between others.
    """
    outputs, inputs = recording.outputs, recording.states
    kinds = {
        _kind(inputs[index], output, inputs[index + 1]) for index, output in enumerate(outputs[:-1])
    } - {"either"}
    if kinds in ({"stream"}, {"branch"}):
        return kinds == {"branch"}
    added = is_last_output_added()
    if not kinds:
        return added
    if kinds == {"stream", "neither"} and not added:
        return False
    raise UserError(
        "cannot detect whether the blocks return the stream or a branch that is added to it; "
        "give returns='stream' or returns='branch'"
    )


def _kind(before: Tensor, output: Tensor, after: Tensor) -> str:
    """Compare a block's output with the next block's input, and say what the output is.

    "stream": the next input is the output. "branch": the next input is the sum of the block's own
    input and its output. "neither": it is neither of the two. "either": both fit equally well, for
    example because the output is NaN or much larger than the stream.
    """
    if after.shape != output.shape:
        return "neither"
    as_stream = _distance(output, after)
    as_branch = _distance(before + output, after) if before.shape == after.shape else math.inf
    if as_stream <= CLOSE < as_branch:
        return "stream"
    if as_stream == as_branch or not math.isfinite(as_stream + as_branch):
        return "either"
    if min(as_stream, as_branch) > CLOSE:
        return "neither"
    return "stream" if as_stream < as_branch else "branch"


@torch.no_grad()
def is_last_output_added(
    model: nn.Module,
    blocks: Sequence[nn.Module],
    recording: Recording,
    inputs: Any,
    argument: int | str | None = None,
) -> bool:
    """Return whether the network adds the last block's output to the block's input.

    The network runs again: noise is added to the last block's input, but the block still returns
    its recorded output. The logits change only if the network adds the input to the output.
    """
    last, stream, output = len(blocks) - 1, recording.states[-2], recording.outputs[-1]
    noise = torch.randn(stream.shape, generator=torch.Generator().manual_seed(0))
    size = (stream.double().norm() + output.double().norm()) / math.sqrt(max(1, stream.numel()))
    other = stream + (size * noise.to(stream.device)).to(stream.dtype)

    def before(index: int, stream: Tensor) -> None:
        if index == last:
            overwrite(stream, other)

    def after(index: int, _: Tensor) -> Tensor | None:
        return output if index == last else None

    with (
        overwriting(model) as overwrite,
        hooked(blocks, before=before, after=after, argument=argument),
    ):
        return not torch.equal(call_network(model, inputs), recording.output)


def _distance(a: Tensor, b: Tensor) -> float:
    size = float(b.double().norm())
    return float((a.double() - b.double()).norm()) / size if size else 0.0
