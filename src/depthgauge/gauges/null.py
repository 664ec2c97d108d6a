"""Null calibration: is an alignment the training feedback's own, or would any feedback have it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Word = Literal["specific", "generic", "mixed", "absent", "n/a"]

LEVEL = 0.05
ROUNDING = 1e-12
"""Below this a difference is rounding: the credit does not depend on the feedback."""


@dataclass(frozen=True)
class Calibrated:
    """One observed alignment beside the alignments that fresh feedback gives.

    Attributes:
        observed: with the training feedback.
        mean, spread: of the fresh draws; the spread has ddof 1.
        p_upper: share of draws at least as large as observed, (1 + count)/(1 + draws).
        p_two_sided: the same for the distance from the null's mean.
        z: (observed − mean)/spread; None where the draws do not vary.
        word: *specific* to the training feedback: above its null; *generic*: any feedback is
            aligned, this one no better; *mixed*: both; *absent*: neither, or not aligned at all;
            n/a with so few draws that none of this can be told.
    """

    observed: float | None
    mean: float | None
    spread: float | None
    p_upper: float | None
    p_two_sided: float | None
    z: float | None
    word: Word


@dataclass(frozen=True)
class NullReading:
    """`per_layer` (the embedding first), over all layers, and over the blocks alone (`deep`)."""

    per_layer: tuple[Calibrated, ...]
    over_all: Calibrated
    deep: Calibrated
    draws: int
    convention: str
    measured_on: str
    fresh_deep: tuple[float, ...] = ()
    unit: str = "cosine"


def calibrate(observed: Tensor, fresh: Tensor, convention: str, measured_on: str) -> NullReading:
    """Set `observed`, (layers,), against `fresh`, (draws, layers)."""
    layers = [calibrated(float(o), f) for o, f in zip(observed, fresh.T, strict=True)]
    deep = fresh[:, 1:].mean(1)
    return NullReading(
        per_layer=tuple(layers),
        over_all=calibrated(float(observed.mean()), fresh.mean(1)),
        deep=calibrated(float(observed[1:].mean()), deep),
        draws=len(fresh),
        convention=convention,
        measured_on=measured_on,
        fresh_deep=tuple(deep.tolist()),
    )


def calibrated(observed: float, draws: Tensor) -> Calibrated:
    """One alignment and its null; undefined where a draw or the observation is."""
    if not bool(draws.isfinite().all()) or observed != observed:  # noqa: PLR0124 – NaN
        return NO_CALIBRATION
    mean, spread = float(draws.mean()), float(draws.std()) if len(draws) > 1 else 0.0
    above = int((draws >= observed - ROUNDING).sum())
    further = int(((draws - mean).abs() >= abs(observed - mean) - ROUNDING).sum())
    p_upper = (1 + above) / (1 + len(draws))
    any_feedback = float(torch.quantile(draws, LEVEL)) > 0
    words: dict[tuple[bool, bool], Word] = {
        (True, False): "specific",
        (True, True): "mixed",
        (False, True): "generic",
        (False, False): "absent",
    }
    word = words[p_upper <= LEVEL, any_feedback] if observed > 0 else "absent"
    if (1 + len(draws)) * LEVEL < 1:
        word = "n/a"
    return Calibrated(
        observed=observed,
        mean=mean,
        spread=spread,
        p_upper=p_upper,
        p_two_sided=(1 + further) / (1 + len(draws)),
        z=(observed - mean) / spread if spread > ROUNDING else None,
        word=word,
    )


NO_CALIBRATION = Calibrated(None, None, None, None, None, None, "n/a")
