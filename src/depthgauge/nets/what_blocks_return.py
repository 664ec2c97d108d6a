"""Does a block return the stream, or only the branch that the network adds to it?"""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.boundaries import Tape

CLOSE = 1e-3
"""Relative distance up to which two streams count as the same, whatever the precision."""


def returns_branch(tape: Tape) -> bool:
    """Seen from the next block's input; with one block, from the gradients at both its ends."""
    if len(tape.blocks) == 1:
        return _by_gradient(tape)
    seen = [
        _kind(tape.inputs[index], tape.outputs[index], tape.inputs[index + 1])
        for index in range(len(tape.blocks) - 1)
    ]
    kinds = set(seen) - {"either"}
    if kinds not in ({"stream"}, {"branch"}):
        raise UserError(
            "it cannot be seen whether the blocks return the stream or a branch of it; say "
            "returns='stream' or returns='branch'"
        )
    return kinds == {"branch"}


def _kind(before: Tensor, output: Tensor, after: Tensor) -> str:
    """What the next block's input says; "either" where the branch drowns the stream."""
    if after.shape != output.shape:
        return "neither"
    as_stream, as_branch = _distance(output, after), _distance(before + output, after)
    if min(as_stream, as_branch) > CLOSE:
        return "neither"
    if as_stream == as_branch:
        return "either"
    return "stream" if as_stream < as_branch else "branch"


def _by_gradient(tape: Tape) -> bool:
    """A stream's block hands down Jᵀg; a branch's input gets g as well: Jᵀg + g."""
    stream, output = tape.live
    at_input, at_output = tape.input_gradients[0], tape.output_gradients[0]
    (through,) = torch.autograd.grad(output, stream, at_output, allow_unused=True)
    rest = at_input if through is None else at_input - through
    to_stream, to_branch = float(rest.norm()), float((rest - at_output).norm())
    if to_stream == to_branch:
        raise UserError(
            "it cannot be seen whether the one block returns the stream or a branch of it; say "
            "returns='stream' or 'branch'"
        )
    return to_branch < to_stream


def _distance(a: Tensor, b: Tensor) -> float:
    size = float(b.double().norm())
    return float((a.double() - b.double()).norm()) / size if size else 0.0
