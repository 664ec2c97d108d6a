"""Does a block return the stream, or only the branch that the network adds to it?"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.boundaries import Tape

CLOSE = 1e-3
"""Relative distance up to which two streams count as the same, whatever the precision."""


def returns_branch(tape: Tape, logits: Tensor, unit: Tensor) -> bool:
    """Seen from the next block's input; from gradients where there is none, or it cannot tell."""
    seen = [
        _kind(tape.inputs[index], tape.outputs[index], tape.inputs[index + 1])
        for index in range(len(tape.blocks) - 1)
    ]
    kinds = set(seen) - {"either"}
    if not kinds:
        return _by_gradient(tape, logits, unit)
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


def _by_gradient(tape: Tape, logits: Tensor, unit: Tensor) -> bool:
    """With the last block's output cut off, only a network that adds hands a gradient down."""
    tape.cut_last = True
    past = tape.gradients(logits, unit)[len(tape.blocks) - 1]
    tape.cut_last = False
    return past is not None and bool(past.any())


def _distance(a: Tensor, b: Tensor) -> float:
    size = float(b.double().norm())
    return float((a.double() - b.double()).norm()) / size if size else 0.0
