"""Both sides of ⟨g_{l+1}, dh_{l+1}⟩ = ⟨g_l, dh_l⟩, block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from depthgauge.gauges.norms import unit_vectors
from depthgauge.nets.forward_shifts import PulledBack, arrivals
from depthgauge.nets.stream_reader import StreamReader

Pair = tuple[Tensor, Tensor]

STEPS = (1e-6, 1e-7, 1e-8)
"""Shifts, as shares of the stream: smaller ones meet fewer kinks, larger ones less rounding."""

TOLERANCE = 1e-7
"""With the best step, honest networks were off by 3e-9 at most, false ones by 7e-6 at least."""

ROUNDING = 8 * torch.finfo(torch.float64).eps
"""What a pass may be off by, as a share of its values."""

SEED = 1

RESOLVED = 1e-3
"""Two numbers are compared where rounding is less than this share of them."""


@dataclass(frozen=True)
class Compared:
    """A block or the readout.

    Attributes:
        disagreement: by which share the two sides differ, with the step where they differ least.
        agrees: whether that is no more than rounding.
        is_constant: whether it disagrees, and does not change at all within the smallest step.
    """

    disagreement: float
    agrees: bool
    is_constant: bool = False


class Comparison:
    """Shifts of the stream in both directions, against the gradients of one backward pass."""

    def __init__(self, net: StreamReader, inputs: Any, seen: PulledBack) -> None:
        self._net, self._inputs, self._seen = net, inputs, seen
        self._above = (*seen.gradients[1:], seen.cotangent)
        generator = torch.Generator().manual_seed(SEED)
        self._directions = [
            _direction(state, gradient, net.layout.features_of(state), generator)
            for state, gradient in zip(seen.states, seen.gradients, strict=True)
        ]

    def run(self) -> list[Compared]:
        """Compare at each block, then at the readout."""
        tried = [self._local(STEPS[0])]
        while len(tried) < len(STEPS) and not all(map(_agree, zip(*tried, strict=True))):
            tried.append(self._local(STEPS[len(tried)]))
        return [self._compared(i, sides) for i, sides in enumerate(zip(*tried, strict=True))]

    def _compared(self, index: int, tried: Sequence[Sides]) -> Compared:
        best = min(sides.disagreement for sides in tried)
        if _agree(tried):
            return Compared(best, True)
        along_every_way = self._along_every_way(index)
        if along_every_way is not None:
            return Compared(along_every_way, True)
        return Compared(best, False, tried[-1].is_constant)

    def _local(self, step: float) -> list[Sides]:
        """One pair of passes for all boundaries: each is set anew, so none hears of the others."""
        places = list(enumerate(zip(self._seen.states, self._directions, strict=True)))
        high = {place: state + step * direction for place, (state, direction) in places}
        low = {place: state - step * direction for place, (state, direction) in places}
        up, down = self._arrivals(high), self._arrivals(low)
        return [
            Sides.of(
                (self._above[place], self._seen.gradients[place]),
                (up[place + 1], down[place + 1]),
                (high[place], low[place]),
            )
            for place in high
        ]

    def _arrivals(self, states: Mapping[int, Tensor]) -> tuple[Tensor, ...]:
        return arrivals(self._net, self._inputs, states, self._seen.at_outputs)

    def _along_every_way(self, index: int) -> float | None:
        """Shift one boundary alone and look at the logits: a long skip is a way of its own.

        Returns the disagreement; None where they do not agree, or rounding hides whether they do.
        """
        state, gradient = self._seen.states[index], self._seen.gradients[index]
        for step in STEPS:
            high, low = (state + sign * step * self._directions[index] for sign in (1, -1))
            up, down = (self._arrivals({index: given})[-1] for given in (high, low))
            sides = Sides.of((self._seen.cotangent, gradient), (up, down), (high, low))
            if sides.agree and sides.rounding <= RESOLVED * sides.size:
                return sides.disagreement
        return None


@dataclass(frozen=True)
class Sides:
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
    def of(cls, gradients: Pair, arrived: Pair, given: Pair) -> Sides:
        """Put the two together.

        Args:
            gradients: above, and below.
            arrived: above, after each of two passes.
            given: below, in the same two passes.
        """
        (above, below), (up, down) = gradients, arrived
        values, shift = up.nan_to_num(0.0, 0.0, 0.0), given[0] - given[1]
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


def _agree(tried: Sequence[Sides]) -> bool:
    return any(sides.agree for sides in tried)


def _direction(state: Tensor, gradient: Tensor, axis: int, generator: torch.Generator) -> Tensor:
    """Half along the gradient, half random, at each position as long as the stream is there.

    Where the stream is exactly zero it stays so: kinks lie there, for instance behind a ReLU.
    """
    noise = torch.randn(state.shape, generator=generator, dtype=torch.float64).to(state.device)
    direction = _unit(noise, axis) + _unit(gradient, axis)
    if not state.any():
        return direction
    size: Tensor = torch.linalg.vector_norm(state, dim=axis, keepdim=True)
    return size * _unit(direction.where(state != 0, 0.0), axis)


def _unit(vectors: Tensor, axis: int) -> Tensor:
    units: Tensor = unit_vectors(vectors.movedim(axis, -1)).movedim(-1, axis)
    return units
