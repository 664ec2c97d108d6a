"""Run forward passes whose stream is set to given values at block boundaries.

These passes use no derivative, so backward passes can be checked against them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from depthgauge.nets.batch import call_network, copy_inputs
from depthgauge.nets.boundaries import hooked, overwriting
from depthgauge.nets.float64_mode import Float64Mode
from depthgauge.nets.preserve_state import preserve_state
from depthgauge.nets.stream_reader import StreamReader


@dataclass(frozen=True)
class BackwardPass:
    """A float64 forward pass and its backward pass from a random vector at the logits.

    Attributes:
        states: h_0 … h_L.
        gradients: the gradients of ⟨cotangent, logits⟩ at h_0 … h_L; zero at a state that no
            gradient reaches.
        cotangent: the random vector, with zeros where a logit is not finite.
        at_outputs: the boundaries at which the stream passes unchanged from one block to the next,
            and the last boundary.
    """

    states: tuple[Tensor, ...]
    gradients: tuple[Tensor, ...]
    cotangent: Tensor
    at_outputs: frozenset[int]


def run_backward(net: StreamReader, inputs: Any) -> BackwardPass:
    """Run a float64 network forward, and backward from a random vector at the logits."""
    generator = torch.Generator().manual_seed(0)
    with _uncompiled_float64(net):
        own = copy_inputs(inputs, net.device, torch.float64)
        with net.recorded(own) as recording:
            logits = recording.output
            random = torch.randn(logits.shape, generator=generator, dtype=torch.float64)
            cotangent = random.to(logits.device).where(logits.detach().isfinite(), 0.0)
            found = recording.gradients(logits, cotangent)
            states = net.read_states(recording, inputs)
    after = [
        output + below if net.adds else output
        for output, below in zip(recording.outputs, states[:-1], strict=True)
    ]
    gradients = tuple(
        torch.zeros_like(state) if gradient is None else gradient.detach()
        for state, gradient in zip(states, found, strict=True)
    )
    at_outputs = {i for i in range(1, len(after)) if torch.equal(after[i - 1], states[i])}
    return BackwardPass(states, gradients, cotangent, frozenset({*at_outputs, len(after)}))


def run_with_states(
    net: StreamReader, inputs: Any, states: Mapping[int, Tensor], at_outputs: Collection[int]
) -> tuple[Tensor, ...]:
    """Run a forward pass and set each h_l to `states[l]` as soon as the network has computed it.

    Returns h_0 … h_L as the network computed them, before the replacement, and the logits. At the
    boundaries in `at_outputs`, h_l is replaced when the block before the boundary returns. So a
    skip connection past the next block reads the new values. At all other boundaries, h_l is
    replaced when the next block starts.
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
        _uncompiled_float64(net),
        torch.no_grad(),
        overwriting(net.model) as overwrite,
        hooked(net.blocks, before=before, after=after, argument=net.argument),
    ):
        logits = call_network(net.model, copy_inputs(inputs, net.device, torch.float64))
    return (*found, logits)


@contextmanager
def _uncompiled_float64(net: StreamReader) -> Iterator[None]:
    """Let the network run in float64 and without torch's compiler; restore its state afterwards."""
    with ExitStack() as stack:
        stack.enter_context(preserve_state(net.model))
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(Float64Mode())  # type: ignore[no-untyped-call]
        yield
