"""Find whose credit each parameter follows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from depthgauge.nets.cut.cut import Cut
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.trial import Trial

LOSS = -1
"""The owner of what follows the loss; 0 is the credit below block 0, l + 1 that of block l."""

BASE = 8
"""Credit is scaled by powers of two below 2**BASE, so that no precision overflows."""

Gradients = dict[str, Tensor | None]


def find_owners(trial: Trial, cut: Cut, passage: Passage) -> dict[str, frozenset[int]]:
    """Return for each parameter the credits that it follows; none if its gradient is zero.

    Two backward passes are compared: one with random credit, one with each credit (and the loss)
    scaled by its own power of two. The scale of a parameter's gradient tells its owner. Powers of
    two are exact in every precision. More than `BASE` owners take one more pass for each digit of
    their number. A parameter without a single owner is looked at with each credit alone.
    """
    owners = range(LOSS, len(cut.blocks) + 1)
    digits = max(1, math.ceil(math.log(len(owners), BASE)))
    plain = gradients_with_credit(trial, cut, passage, dict.fromkeys(owners, 1.0))
    found = {name: 0 for name, gradient in plain.items() if _is_any(gradient)}
    several: set[str] = set()
    for digit in range(digits):
        powers = {owner: (owner - LOSS) // BASE**digit % BASE for owner in owners}
        scaled = gradients_with_credit(trial, cut, passage, {o: 2.0**k for o, k in powers.items()})
        for name in found:
            power = _power(plain[name], scaled[name])
            if power is None:
                several.add(name)
            else:
                found[name] += power * BASE**digit
    single = {name: frozenset({code + LOSS}) for name, code in found.items() if name not in several}
    none: dict[str, frozenset[int]] = dict.fromkeys(plain.keys() - found.keys(), frozenset())
    every = none | single | _owners_one_by_one(trial, cut, passage, several, owners)
    return {name: every[name] for name in plain}


def _owners_one_by_one(
    trial: Trial, cut: Cut, passage: Passage, names: Collection[str], owners: range
) -> dict[str, frozenset[int]]:
    """Give each credit alone; a parameter with a gradient follows it."""
    found: dict[str, set[int]] = {name: set() for name in names}
    for owner in owners if names else ():
        alone = gradients_with_credit(
            trial, cut, passage, {other: float(other == owner) for other in owners}
        )
        for name in names:
            if _is_any(alone[name]):
                found[name].add(owner)
    return {name: frozenset(own) for name, own in found.items()}


def gradients_with_credit(
    trial: Trial, cut: Cut, passage: Passage, scale: Mapping[int, float]
) -> Gradients:
    """Return the gradients of one step with random credit, times the scale of each owner."""
    recording = cut.record(trial.run, passes=passage)
    generator = torch.Generator().manual_seed(2)
    credit = [
        scale[owner] * torch.randn(state.shape, generator=generator).to(state) / len(state)
        for owner, state in enumerate(recording.states)
    ]
    recording.backward(scale[LOSS] * trial.loss(recording.output), credit)
    return trial.gradients()


def _is_any(gradient: Tensor | None) -> bool:
    return gradient is not None and bool(gradient.any())


def _power(plain: Tensor | None, scaled: Tensor | None) -> int | None:
    """Return k if `scaled` is exactly 2**k times `plain`, else None."""
    if plain is None or scaled is None:
        return None
    largest = int(plain.abs().argmax())
    ratio = float(scaled.flatten()[largest].double() / plain.flatten()[largest].double())
    power = math.log2(ratio) if ratio > 0 and math.isfinite(ratio) else -1
    if not (0 <= power < BASE and power == int(power)):
        return None
    return int(power) if torch.equal(scaled, plain * 2 ** int(power)) else None
