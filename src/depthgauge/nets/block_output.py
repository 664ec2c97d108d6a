"""Does a block return the stream, or only the branch that the network adds to it?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.batch import call
from depthgauge.nets.boundaries import Tape, hooked, overwriting

CLOSE = 1e-3
"""Relative distance up to which two streams count as the same, whatever the precision."""


def returns_branch(tape: Tape, is_read_past_last_block: Callable[[], bool]) -> bool:
    """Seen from the next block's input; past the last where there is none, or it cannot tell."""
    seen = [
        _kind(tape.inputs[index], tape.outputs[index], tape.inputs[index + 1])
        for index in range(len(tape.blocks) - 1)
    ]
    kinds = set(seen) - {"either"}
    if not kinds:
        return is_read_past_last_block()
    if kinds not in ({"stream"}, {"branch"}):
        raise UserError(
            "it cannot be seen whether the blocks return the stream or a branch of it; say "
            "returns='stream' or returns='branch'"
        )
    return kinds == {"branch"}


def _kind(before: Tensor, output: Tensor, after: Tensor) -> str:
    """What the next block's input says; "either" where the branch drowns the stream, or NaN."""
    if after.shape != output.shape:
        return "neither"
    as_stream, as_branch = _distance(output, after), _distance(before + output, after)
    if as_stream == as_branch or not math.isfinite(as_stream + as_branch):
        return "either"
    if min(as_stream, as_branch) > CLOSE:
        return "neither"
    return "stream" if as_stream < as_branch else "branch"


@torch.no_grad()
def is_read_past_last_block(model: nn.Module, tape: Tape, inputs: Any, logits: Tensor) -> bool:
    """Run the network again, the last block's output as it was and its input another.

    Only a network that adds them answers something else. The other input is as large as both.
    """
    last, stream, output = len(tape.blocks) - 1, tape.inputs[-1], tape.outputs[-1]
    noise = torch.randn(stream.shape, generator=torch.Generator().manual_seed(0))
    size = (stream.double().norm() + output.double().norm()) / math.sqrt(max(1, stream.numel()))
    other = stream + (size * noise.to(stream.device)).to(stream.dtype)

    def before(index: int, stream: Tensor) -> None:
        if index == last:
            overwrite(stream, other)

    def after(index: int, _: Tensor) -> Tensor | None:
        return output if index == last else None

    with overwriting(model) as overwrite, hooked(tape.blocks, before=before, after=after):
        return not torch.equal(call(model, inputs), logits)


def _distance(a: Tensor, b: Tensor) -> float:
    size = float(b.double().norm())
    return float((a.double() - b.double()).norm()) / size if size else 0.0
