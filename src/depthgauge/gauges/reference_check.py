"""The reference check: test whether the backward pass is the derivative of the forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from depthgauge.errors import one_line
from depthgauge.gauges.central_differences import CentralDifferences, PartCheck
from depthgauge.gauges.reading import Reading
from depthgauge.nets.forward_shifts import BackwardPass, run_backward
from depthgauge.nets.stream_reader import StreamReader

SAMPLES = 8
READOUT = "readout"
ZERO = "the gradient is exactly zero"
Fault = Literal["own backward", "no gradient", "steps"]


@dataclass(frozen=True)
class ReferenceCheckReading(Reading):
    """The disagreement between backward and forward pass; `value` is the largest over all parts.

    Attributes:
        per_layer: the disagreement of each block, then of the readout.
        faults: the fault of each part whose backward pass is not the derivative of its forward
            pass. The key is the part's name, such as "block 3" or "readout".
    """

    faults: dict[str, Fault] = field(default_factory=dict)

    @property
    def is_true(self) -> bool:
        """Whether no fault was found; also True if the check could not be made."""
        return not self.faults

    @property
    def is_vacuous(self) -> bool:
        """Whether the gradient is exactly zero, so that the check shows nothing."""
        return self.is_true and self.note == ZERO

    @property
    def places(self) -> str:
        """The parts with a fault in words, such as "blocks 0 to 3, 5 and the readout"."""
        return _list_parts(list(self.faults))

    @property
    def complaint(self) -> str:
        """A sentence that names the parts with a fault and says what is wrong; no full stop."""
        sentences = []
        for fault, one, several in FAULT_WORDS:
            names = [name for name, own in self.faults.items() if own == fault]
            if names:
                sentences.append(f"{_list_parts(names)} {one if len(names) == 1 else several}")
        return "; ".join(sentences)


FAULT_WORDS: tuple[tuple[Fault, str, str], ...] = (
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
    """Compare the gradient at every boundary with forward passes, on 8 of the `count` samples.

    A float64 copy of the network runs twice, with the stream h_l shifted slightly up and slightly
    down at every boundary l. If the gradients g_l are true, ⟨g_{l+1}, change of h_{l+1}⟩ =
    ⟨g_l, change of h_l⟩. The gradients are of a random combination of the logits, not of the loss,
    so confident samples have a gradient too.

    Forward-mode differentiation cannot replace the shifts. It obeys `detach` and custom
    derivatives, so it would confirm a wrong gradient.
    """
    unit, how = "relative disagreement", "central differences in float64"
    name = "reference check"
    try:
        exact = net.in_precision(torch.float64)
        few, samples, seen = _first_samples(exact, inputs, count)
        checks = CentralDifferences(exact, few, seen).compare()
    except Exception as error:
        note = f"n/a: gradients cannot be checked against the forward pass ({one_line(error)})"
        return ReferenceCheckReading(name, None, (), unit, how, "", note)
    if net.adds is None:
        net.adds = exact.adds
    disagreements = tuple(check.disagreement for check in checks)
    parts = [*(f"block {index}" for index in range(net.num_blocks)), READOUT]
    faults = {
        part: _fault(check, gradient)
        for part, check, gradient in zip(parts, checks, seen.gradients, strict=True)
        if not check.agrees
    }
    return ReferenceCheckReading(
        name=name,
        value=max(disagreements),
        per_layer=disagreements,
        unit=unit,
        convention=how,
        measured_on=f"{samples} samples",
        note="" if any(g.any() for g in seen.gradients) else ZERO,
        faults=faults,
    )


def _first_samples(net: StreamReader, inputs: Any, count: int) -> tuple[Any, int, BackwardPass]:
    """Run a backward pass on the first 8 samples, or on all if the network refuses so few.

    Returns the samples, their number and the backward pass.
    """

    def first(value: Any) -> Any:
        has_samples = isinstance(value, Tensor) and value.dim() and len(value) == count
        return value[:SAMPLES] if has_samples else value

    few = tree_map(first, inputs)
    try:
        return few, min(SAMPLES, count), run_backward(net, few)
    except Exception:
        return inputs, count, run_backward(net, inputs)


def _fault(check: PartCheck, gradient: Tensor) -> Fault:
    if not gradient.any():
        return "no gradient"
    return "steps" if check.is_constant else "own backward"


def _list_parts(names: Sequence[str]) -> str:
    """Return the parts in words; neighbouring blocks become a range."""
    ranges: list[list[int]] = []
    for block in (int(name.split()[1]) for name in names if name != READOUT):
        if ranges and block == ranges[-1][-1] + 1:
            ranges[-1].append(block)
        else:
            ranges.append([block])
    parts = [str(own[0]) if len(own) == 1 else f"{own[0]} to {own[-1]}" for own in ranges]
    if parts:
        parts[0] = f"block{'s' if len(ranges) > 1 or len(ranges[0]) > 1 else ''} {parts[0]}"
    parts += ["the readout"] if READOUT in names else []
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
