"""Tell whether the last block returns the stream, or a branch that the network adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from depthgauge.nets.boundaries import overwriting
from depthgauge.nets.cut.passage import find_stream, first_tensor, replace_tensor
from depthgauge.nets.cut.stream_argument import noise_like
from depthgauge.nets.cut.trial import Trial, watch_calls

CLOSE = 1e-3
"""Two changes of the output whose relative distance is at most this count as equal."""


@torch.no_grad()
def find_return(
    trial: Trial, blocks: Sequence[nn.Module], calls: int, argument: int | str | None
) -> Literal["stream", "branch", "neither"]:
    """Return what the last call returns, from three forward passes in which its output is fixed.

    In one pass nothing else changes; in one the call's input h is shifted; in one its output f. If
    the network does not use h besides the block, f is the stream. If both shifts do the same to the
    network's output, the network adds f to h.
    """
    recorded: list[Tensor] = []

    def keep(call: int, output: Any) -> None:
        if call == calls - 1:
            recorded.append(first_tensor(call, output).clone())

    with watch_calls(blocks, after=keep):
        plain = trial.run()
    (output,) = recorded
    shift = noise_like(output)

    def run(at_input: bool) -> Tensor | None:
        fits = True

        def before(call: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
            nonlocal fits
            if call == calls - 1 and at_input:
                stream = find_stream(call, args, kwargs, argument)
                fits = stream.shape == shift.shape
                overwrite(stream, stream + (shift if fits else noise_like(stream)))

        def after(call: int, returned: Any) -> Any:
            if call != calls - 1:
                return None
            fixed = output if at_input else output + shift
            return replace_tensor(returned, first_tensor(call, returned), fixed)

        with overwriting(trial.model) as overwrite, watch_calls(blocks, before, after):
            result = trial.run()
        return result if fits or torch.equal(result, plain) else None

    with_input, with_output = run(at_input=True), run(at_input=False)
    if with_input is None or with_output is None:
        return "neither"
    if torch.equal(with_input, plain):
        return "stream"
    change = float((with_output - plain).double().norm())
    distance = float((with_output - with_input).double().norm())
    close = max(CLOSE, 8 * torch.finfo(plain.dtype).eps)
    return "branch" if distance <= close * change else "neither"
