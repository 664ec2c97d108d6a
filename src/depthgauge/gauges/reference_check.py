"""The reference check: is the backward pass the derivative of the forward pass?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from depthgauge.errors import one_line
from depthgauge.gauges.reading import Reading
from depthgauge.nets.forward_shifts import PulledBack, arrivals, pull_back
from depthgauge.nets.opened import OpenedNet

SAMPLES = 8
STEPS = (1e-6, 1e-7, 1e-8)
"""Sizes of a shift, as shares of the stream: kinks are met less often with the smaller ones."""

TOLERANCE = 1e-7
ROUNDING = 8 * torch.finfo(torch.float64).eps
"""What a pass may be off by, as a share of its values."""

RESOLVED = 1e-3
"""Two numbers are compared where rounding is less than this share of them."""

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


def check_reference(net: OpenedNet, inputs: Any, count: int) -> ReferenceCheckReading:
    """Hold the gradient at every boundary against the forward pass, on 8 of `count` samples.

    A float64 copy of the network is run with h_l shifted by ±ε·v_l at every boundary, and
    ⟨g_{l+1}, change of what arrives at l+1⟩ must be ⟨g_l, change of h_l⟩; g comes from a random
    vector at the logits, so that no confident sample is without one. Forward-mode differentiation
    would not do: it obeys `detach` and custom derivatives, and so confirms what is false.
    """
    unit, how = "relative disagreement", "central differences in float64, best of three steps"
    name = "reference check"
    try:
        seen, net_in_float64, few = _first_samples(net, inputs, count)
        comparison = _Comparison(net_in_float64, few, seen)
        worst, wrong = comparison.run()
        kinds = comparison.faults(wrong)
    except Exception as error:
        note = f"n/a: gradients cannot be checked against the forward pass ({one_line(error)})"
        return ReferenceCheckReading(name, None, (), unit, how, "", note)
    if net.adds is None:
        net.adds = net_in_float64.adds
    places = [*(f"block {index}" for index in range(net.num_blocks)), "readout"]
    faults = {places[index]: kind for index, kind in zip(wrong, kinds, strict=True)}
    note = "" if any(g.any() for g in seen.gradients) else "the gradient is exactly zero"
    return ReferenceCheckReading(
        name, max(worst), tuple(worst), unit, how, _samples(net, seen), note, faults
    )


def _samples(net: OpenedNet, seen: PulledBack) -> str:
    return f"{seen.states[0].shape[net.layout.sample_axis]} samples"


def _first_samples(net: OpenedNet, inputs: Any, count: int) -> tuple[PulledBack, OpenedNet, Any]:
    """Run the first samples through a float64 copy; all of them where they cannot be told apart."""
    exact = net.in_precision(torch.float64)

    def first(value: Any) -> Any:
        is_batch = isinstance(value, Tensor) and value.dim() and len(value) == count
        return value[:SAMPLES] if is_batch else value

    few = tree_map(first, inputs)
    try:
        return pull_back(exact, few, _generator()), exact, few
    except Exception:
        return pull_back(exact, inputs, _generator()), exact, inputs


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


class _Comparison:
    """Both sides of ⟨g_{l+1}, dh_{l+1}⟩ = ⟨g_l, dh_l⟩, for shifts of the stream."""

    def __init__(self, net: OpenedNet, inputs: Any, seen: PulledBack) -> None:
        self._net, self._inputs, self._seen = net, inputs, seen
        self._above = (*seen.gradients[1:], seen.cotangent)
        generator = _generator()
        self._directions = [
            _direction(state, gradient, generator)
            for state, gradient in zip(seen.states, seen.gradients, strict=True)
        ]

    def run(self) -> tuple[list[float], list[int]]:
        """The disagreements of blocks and readout, and which of them are wrong."""
        tried = [self._local(STEPS[0])]
        while len(tried) < len(STEPS) and _unsettled(tried):
            tried.append(self._local(STEPS[len(tried)]))
        worst = [min(one.disagreement for one in sides) for sides in zip(*tried, strict=True)]
        wrong = []
        for index in _unsettled(tried):
            along_every_way = self._along_every_way(index)
            if along_every_way is None:
                wrong.append(index)
            else:
                worst[index] = along_every_way
        return worst, wrong

    def _local(self, step: float) -> list[_Sides]:
        """One pair of passes for all boundaries: each is set anew, so none hears of the others."""
        shifts = [step * direction for direction in self._directions]
        ends = [
            {i: h + sign * s for i, (h, s) in enumerate(zip(self._seen.states, shifts, strict=True))}
            for sign in (1, -1)
        ]
        up, down = (arrivals(self._net, self._inputs, states) for states in ends)
        return [
            _Sides.of(self._above[i], up[i + 1], down[i + 1], self._seen.gradients[i], h, low)
            for i, (h, low) in enumerate(zip(ends[0].values(), ends[1].values(), strict=True))
        ]

    def _along_every_way(self, index: int) -> float | None:
        """Shift one boundary alone and look at the logits: a long skip is a way of its own.

        Returns the disagreement, or None where they do not agree, or rounding hides whether they do.
        """
        state, gradient = self._seen.states[index], self._seen.gradients[index]
        for step in STEPS:
            high, low = (state + sign * step * self._directions[index] for sign in (1, -1))
            up, down = (arrivals(self._net, self._inputs, {index: h})[-1] for h in (high, low))
            sides = _Sides.of(self._seen.cotangent, up, down, gradient, high, low)
            if sides.agree and sides.rounding <= RESOLVED * sides.size:
                return sides.disagreement
        return None

    def faults(self, wrong: Sequence[int]) -> list[Fault]:
        """What kind of fault each of these has."""
        sides = self._local(STEPS[-1]) if wrong else []
        return [self._fault(index, sides[index]) for index in wrong]

    def _fault(self, index: int, sides: _Sides) -> Fault:
        if not self._seen.gradients[index].any():
            return "no gradient"
        return "steps" if sides.is_constant else "own backward"


@dataclass(frozen=True)
class _Sides:
    """⟨g_{l+1}, dh_{l+1}⟩ beside ⟨g_l, dh_l⟩.

    Attributes:
        above, below: the two.
        rounding: what rounding may make of the first.
        is_constant: whether the piece in between, or its branch, does not change at all.
    """

    above: float
    below: float
    rounding: float
    is_constant: bool

    @classmethod
    def of(
        cls, above: Tensor, up: Tensor, down: Tensor, below: Tensor, high: Tensor, low: Tensor
    ) -> _Sides:
        """Compare what arrives above, of a network that is given `high` and then `low` below."""
        values, shift = up.nan_to_num(0.0, 0.0, 0.0), high - low
        change = values - down.nan_to_num(0.0, 0.0, 0.0)
        rounding = ROUNDING * float(values.norm())
        moved = [change, change - shift] if change.shape == shift.shape else [change]
        return cls(
            above=float((above * change).sum()),
            below=float((below * shift).sum()),
            rounding=rounding * float(above.norm()),
            is_constant=min(float(part.norm()) for part in moved) <= rounding,
        )

    @property
    def size(self) -> float:
        """The larger of the two."""
        return max(abs(self.above), abs(self.below))

    @property
    def disagreement(self) -> float:
        """By which share of the larger they differ."""
        return abs(self.above - self.below) / self.size if self.size else 0.0

    @property
    def agree(self) -> bool:
        """Whether they differ by rounding alone."""
        return abs(self.above - self.below) <= TOLERANCE * self.size + self.rounding


def _unsettled(tried: Sequence[Sequence[_Sides]]) -> list[int]:
    """Where the two sides agree with no step that was tried."""
    return [i for i, sides in enumerate(zip(*tried, strict=True)) if not any(s.agree for s in sides)]


def _direction(state: Tensor, gradient: Tensor, generator: torch.Generator) -> Tensor:
    """Half along the gradient, half random, as long as the stream.

    Where the stream is exactly zero it stays so: kinks lie there, for instance behind a ReLU.
    """
    noise = torch.randn(state.shape, generator=generator, dtype=torch.float64).to(state.device)
    direction = _unit(noise)
    if gradient.any():
        direction = direction + _unit(gradient)
    if state.any():
        direction = direction.where(state != 0, 0.0)
    size = state.norm() if state.any() else torch.ones_like(state.norm())
    return size * _unit(direction)


def _unit(vector: Tensor) -> Tensor:
    """The vector at length 1; divided by its largest entry first, so that no square underflows."""
    scaled = vector / vector.abs().amax()
    return scaled / scaled.norm()
