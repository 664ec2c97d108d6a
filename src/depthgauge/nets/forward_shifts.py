"""The stream set anew at block boundaries: what then arrives at the next, by forward passes alone.

What is read here knows nothing of any backward pass, so backward passes can be held against it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from depthgauge.nets.batch import call, placed
from depthgauge.nets.boundaries import Tape, hooked, overwriting
from depthgauge.nets.float64_mode import Float64Mode
from depthgauge.nets.preserve_state import preserve_state
from depthgauge.nets.stream_reader import StreamReader


@dataclass(frozen=True)
class PulledBack:
    """A forward pass in float64, and what its backward pass makes of one vector at the logits.

    Attributes:
        states: h_0 … h_L.
        gradients: of ⟨cotangent, logits⟩ at h_0 … h_L; zero where none arrives.
        cotangent: random, and zero where a logit is not finite.
        at_outputs: the boundaries where nothing lies between a block's output and the next input,
            and the last.
    """

    states: tuple[Tensor, ...]
    gradients: tuple[Tensor, ...]
    cotangent: Tensor
    at_outputs: frozenset[int]


def pull_back(net: StreamReader, inputs: Any) -> PulledBack:
    """Hand a random vector back from the logits to every boundary of a float64 network."""
    tape, generator = Tape(net.blocks), torch.Generator().manual_seed(0)
    with _own_code(net), tape:
        with tape.recording():
            logits = call(net.model, placed(inputs, net.device, torch.float64))
        random = torch.randn(logits.shape, generator=generator, dtype=torch.float64)
        cotangent = random.to(logits.device).where(logits.detach().isfinite(), 0.0)
        found = tape.gradients(logits, cotangent)
        net.note_what_blocks_return(tape, inputs, logits)
    after = [
        output + below if net.adds else output
        for output, below in zip(tape.outputs, tape.inputs, strict=True)
    ]
    states = (*tape.inputs, after[-1])
    gradients = tuple(
        torch.zeros_like(state) if gradient is None else gradient.detach()
        for state, gradient in zip(states, found, strict=True)
    )
    at_outputs = {i for i in range(1, len(after)) if torch.equal(after[i - 1], states[i])}
    return PulledBack(states, gradients, cotangent, frozenset({*at_outputs, len(after)}))


def arrivals(
    net: StreamReader, inputs: Any, states: Mapping[int, Tensor], at_outputs: Collection[int]
) -> tuple[Tensor, ...]:
    """What arrives at h_0 … h_L, and the logits, with h_l set to `states[l]` once it has arrived.

    Whatever reads h_l, also past a block, reads the new values: they are set as soon as a block has
    returned them (`at_outputs`), or else when the next is called.
    """
    found: list[Tensor] = []
    below = torch.empty(0)

    def before(index: int, stream: Tensor) -> None:
        nonlocal below
        if index not in at_outputs:
            found.append(stream.clone())
            if index in states:
                overwrite(stream, states[index])
        below = stream.clone()

    def after(index: int, output: Tensor) -> None:
        place = index + 1
        if place not in at_outputs:
            return
        found.append(output + below if net.adds else output.clone())
        if place in states:
            overwrite(output, states[place] - below if net.adds else states[place])

    with (
        _own_code(net),
        torch.no_grad(),
        overwriting(net.model) as overwrite,
        hooked(net.blocks, before=before, after=after),
    ):
        logits = call(net.model, placed(inputs, net.device, torch.float64))
    return (*found, logits)


@contextmanager
def _own_code(net: StreamReader) -> Iterator[None]:
    """Inside, the network runs as it is written, in float64: compiled parts run uncompiled."""
    with ExitStack() as stack:
        stack.enter_context(preserve_state(net.model))
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(Float64Mode())  # type: ignore[no-untyped-call]
        yield
