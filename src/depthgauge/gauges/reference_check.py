"""The reference check: is the backward pass the derivative of the forward pass?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from depthgauge.errors import one_line
from depthgauge.gauges.central_differences import Compared, Comparison
from depthgauge.gauges.reading import Reading
from depthgauge.nets.forward_shifts import PulledBack, pull_back
from depthgauge.nets.stream_reader import StreamReader

SAMPLES = 8
READOUT = "readout"
ZERO = "the gradient is exactly zero"
Fault = Literal["own backward", "no gradient", "steps"]


@dataclass(frozen=True)
class ReferenceCheckReading(Reading):
    """`per_layer` are disagreements of each block, then of the readout; `value` is the largest.

    Attributes:
        faults: the blocks, and the readout, whose backward pass is not the derivative of what they
            compute, by name: "block 3" or "readout".
    """

    faults: dict[str, Fault] = field(default_factory=dict)

    @property
    def is_true(self) -> bool:
        """Whether gradients may be compared with; also where it could not be checked."""
        return not self.faults

    @property
    def is_vacuous(self) -> bool:
        """Whether the gradient is zero, so that nothing can be said of it."""
        return self.is_true and self.note == ZERO

    @property
    def places(self) -> str:
        """Where the gradient is not true: "blocks 0 to 3, 5 and the readout"."""
        return _listed(list(self.faults))

    @property
    def complaint(self) -> str:
        """What is wrong, as a sentence without its end."""
        told = []
        for fault, one, several in WORDS:
            names = [name for name, own in self.faults.items() if own == fault]
            if names:
                told.append(f"{_listed(names)} {one if len(names) == 1 else several}")
        return "; ".join(told)


WORDS: tuple[tuple[Fault, str, str], ...] = (
    (
        "own backward",
        "defines its own backward pass (a custom autograd function, or a detach), which is not "
        "the derivative of its forward pass",
        "define their own backward pass (a custom autograd function, or a detach), which is not "
        "the derivative of their forward pass",
    ),
    (
        "no gradient",
        "hands no gradient down (it, or the network around it, detaches the stream)",
        "hand no gradient down (they, or the network around them, detach the stream)",
    ),
    (
        "steps",
        "computes a step function with a derivative of its own (a straight-through estimator), so "
        "there is no true gradient",
        "compute step functions with derivatives of their own (straight-through estimators), so "
        "there is no true gradient",
    ),
)


def check_reference(net: StreamReader, inputs: Any, count: int) -> ReferenceCheckReading:
    """Hold the gradient at every boundary against the forward pass, on 8 of `count` samples.

    A float64 copy of the network is run with h_l shifted by ±ε·v_l at every boundary, and
    ⟨g_{l+1}, change of what arrives at l+1⟩ must be ⟨g_l, change of h_l⟩; g comes from a random
    vector at the logits, so that no confident sample is without one. Forward-mode differentiation
    would not do: it obeys `detach` and custom derivatives, and so confirms what is false.
    """
    unit, how = "relative disagreement", "central differences in float64"
    name = "reference check"
    try:
        exact = net.in_precision(torch.float64)
        few, samples, seen = _first_samples(exact, inputs, count)
        compared = Comparison(exact, few, seen).run()
    except Exception as error:
        note = f"n/a: gradients cannot be checked against the forward pass ({one_line(error)})"
        return ReferenceCheckReading(name, None, (), unit, how, "", note)
    if net.adds is None:
        net.adds = exact.adds
    worst = tuple(one.disagreement for one in compared)
    places = [*(f"block {index}" for index in range(net.num_blocks)), READOUT]
    faults = {
        place: _fault(one, gradient)
        for place, one, gradient in zip(places, compared, seen.gradients, strict=True)
        if not one.agrees
    }
    return ReferenceCheckReading(
        name=name,
        value=max(worst),
        per_layer=worst,
        unit=unit,
        convention=how,
        measured_on=f"{samples} samples",
        note="" if any(g.any() for g in seen.gradients) else ZERO,
        faults=faults,
    )


def _first_samples(net: StreamReader, inputs: Any, count: int) -> tuple[Any, int, PulledBack]:
    """Pull back through the first samples; through all where the network refuses so few."""

    def first(value: Any) -> Any:
        has_samples = isinstance(value, Tensor) and value.dim() and len(value) == count
        return value[:SAMPLES] if has_samples else value

    few = tree_map(first, inputs)
    try:
        return few, min(SAMPLES, count), pull_back(net, few)
    except Exception:
        return inputs, count, pull_back(net, inputs)


def _fault(compared: Compared, gradient: Tensor) -> Fault:
    if not gradient.any():
        return "no gradient"
    return "steps" if compared.is_constant else "own backward"


def _listed(names: Sequence[str]) -> str:
    """The places in words, blocks in a row as a range."""
    runs: list[list[int]] = []
    for block in (int(name.split()[1]) for name in names if name != READOUT):
        if runs and block == runs[-1][-1] + 1:
            runs[-1].append(block)
        else:
            runs.append([block])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    if parts:
        parts[0] = f"block{'s' if len(runs) > 1 or len(runs[0]) > 1 else ''} {parts[0]}"
    parts += ["the readout"] if READOUT in names else []
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
