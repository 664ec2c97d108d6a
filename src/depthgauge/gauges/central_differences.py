"""Compare gradients with central differences, block by block.

h_l is the stream before block l, g_l the gradient at h_l, and dh_l a small change of h_l. The block
turns dh_l into the change dh_{l+1}. If the gradients are true, ⟨g_{l+1}, dh_{l+1}⟩ = ⟨g_l, dh_l⟩.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from depthgauge.gauges.norms import unit_vectors
from depthgauge.nets.forward_shifts import BackwardPass, run_with_states
from depthgauge.nets.stream_reader import StreamReader

Pair = tuple[Tensor, Tensor]

STEPS = (1e-6, 1e-7, 1e-8)
"""Sizes of the change, as shares of the stream.

A smaller change crosses fewer kinks of the network; a larger one suffers less from rounding.
"""

TOLERANCE = 1e-7
"""The largest disagreement that counts as agreement, as a share of the larger side.

With the best step, true gradients disagreed by at most 3e-9, wrong gradients by at least 7e-6.
"""

ROUNDING = 8 * torch.finfo(torch.float64).eps
"""The rounding error of one forward pass, as a share of its values."""

SEED = 1

RESOLVED = 1e-3
"""Two numbers are compared only if their rounding error is less than this share of the larger."""


@dataclass(frozen=True)
class PartCheck:
    """The comparison of ⟨g_{l+1}, dh_{l+1}⟩ with ⟨g_l, dh_l⟩ at one part: a block or the readout.

    Attributes:
        disagreement: the smallest relative difference of the two products over all steps.
        agrees: whether this difference is rounding alone.
        is_constant: whether the two products disagree and the smallest step leaves the part's
            output, or its branch, unchanged.
    """

    disagreement: float
    agrees: bool
    is_constant: bool = False


class CentralDifferences:
    """A comparison of a backward pass with forward passes that shift the stream up and down.

    Args:
        net: the network in float64.
        inputs: the samples to compare on.
        seen: the gradients of one backward pass on these samples.
    """

    def __init__(self, net: StreamReader, inputs: Any, seen: BackwardPass) -> None:
        self._net, self._inputs, self._seen = net, inputs, seen
        self._above = (*seen.gradients[1:], seen.cotangent)
        generator = torch.Generator().manual_seed(SEED)
        self._directions = [
            _direction(state, gradient, net.layout.features_of(state), generator)
            for state, gradient in zip(seen.states, seen.gradients, strict=True)
        ]

    def compare(self) -> list[PartCheck]:
        """Return the check of each block, then of the readout.

        Smaller steps are tried until ⟨g_{l+1}, dh_{l+1}⟩ and ⟨g_l, dh_l⟩ agree at every part.
        """
        tried = [self._compare_parts(STEPS[0])]
        while len(tried) < len(STEPS) and not all(map(_any_agrees, zip(*tried, strict=True))):
            tried.append(self._compare_parts(STEPS[len(tried)]))
        return [self._check_part(i, sides) for i, sides in enumerate(zip(*tried, strict=True))]

    def _check_part(self, index: int, tried: Sequence[Sides]) -> PartCheck:
        """Return the result of one part from its comparisons at all steps that were tried."""
        best = min(sides.disagreement for sides in tried)
        if _any_agrees(tried):
            return PartCheck(best, True)
        at_logits = self._compare_at_logits(index)
        if at_logits is not None:
            return PartCheck(at_logits, True)
        return PartCheck(best, False, tried[-1].is_constant)

    def _compare_parts(self, step: float) -> list[Sides]:
        """Compare all parts with one pair of forward passes.

        Both passes set the stream at every boundary, so a shift at one boundary does not reach the
        next comparison.
        """
        places = list(enumerate(zip(self._seen.states, self._directions, strict=True)))
        high = {place: state + step * direction for place, (state, direction) in places}
        low = {place: state - step * direction for place, (state, direction) in places}
        up, down = self._run(high), self._run(low)
        return [
            Sides.measure(
                (self._above[place], self._seen.gradients[place]),
                (up[place + 1], down[place + 1]),
                (high[place], low[place]),
            )
            for place in high
        ]

    def _run(self, states: Mapping[int, Tensor]) -> tuple[Tensor, ...]:
        return run_with_states(self._net, self._inputs, states, self._seen.at_outputs)

    def _compare_at_logits(self, index: int) -> float | None:
        """Shift one boundary alone and compare at the logits.

        A skip connection past several blocks carries part of the shift around the next boundary,
        but the whole shift arrives at the logits. Returns the relative difference of the two sides
        if they agree. Returns None if they disagree, or if rounding hides whether they agree.
        """
        state, gradient = self._seen.states[index], self._seen.gradients[index]
        for step in STEPS:
            high, low = (state + sign * step * self._directions[index] for sign in (1, -1))
            up, down = (self._run({index: given})[-1] for given in (high, low))
            sides = Sides.measure((self._seen.cotangent, gradient), (up, down), (high, low))
            if sides.agree and sides.rounding <= RESOLVED * sides.size:
                return sides.disagreement
        return None


@dataclass(frozen=True)
class Sides:
    """The sides ⟨g_{l+1}, dh_{l+1}⟩ and ⟨g_l, dh_l⟩ at one part, equal for a true gradient.

    Attributes:
        above: ⟨g_{l+1}, dh_{l+1}⟩.
        below: ⟨g_l, dh_l⟩.
        rounding: the rounding error of `above`.
        is_constant: whether the step leaves the part's output, or its branch, unchanged.
    """

    above: float
    below: float
    rounding: float
    is_constant: bool

    @classmethod
    def measure(cls, gradients: Pair, arrived: Pair, given: Pair) -> Sides:
        """Compute both sides from two forward passes.

        Args:
            gradients: g_{l+1} and g_l.
            arrived: h_{l+1} in the pass shifted up, and in the pass shifted down.
            given: h_l in the same two passes.
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
        """The absolute value of the larger side."""
        return max(abs(self.above), abs(self.below))

    @property
    def disagreement(self) -> float:
        """The difference of the two sides, as a share of the larger one."""
        return abs(self.above - self.below) / self.size if self.size else 0.0

    @property
    def agree(self) -> bool:
        """Whether the two sides differ by rounding alone."""
        return abs(self.above - self.below) <= TOLERANCE * self.size + self.rounding


def _any_agrees(tried: Sequence[Sides]) -> bool:
    return any(sides.agree for sides in tried)


def _direction(state: Tensor, gradient: Tensor, axis: int, generator: torch.Generator) -> Tensor:
    """Return a direction of change: half along the gradient, half random.

    At each position the direction is as long as the stream. Where an entry of the stream is
    exactly zero, the direction is zero too: a network may have a kink at zero, such as a ReLU's.
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
