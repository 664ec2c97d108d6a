"""Null calibration: compare an alignment with the alignments that fresh random feedback gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

NullWord = Literal["specific", "generic", "mixed", "absent", "n/a"]

LEVEL = 0.05
ROUNDING = 1e-12
"""A difference of alignments below this counts as rounding."""


@dataclass(frozen=True)
class CalibratedAlignment:
    """One alignment compared with its null: the alignments that fresh random feedback gives.

    A draw is the alignment with one fresh random feedback.

    Attributes:
        observed: the alignment with the training feedback.
        mean, spread: the mean and standard deviation (ddof 1) of the draws.
        p_upper: (1 + count)/(1 + draws) for the count of draws at least as large as `observed`.
        p_two_sided: (1 + count)/(1 + draws) for the count of draws at least as far from `mean` as
            `observed` is.
        z: (observed − mean)/spread; None if the draws do not vary.
        word: *specific*: the training feedback is aligned, fresh feedback is not. *generic*: both
            are aligned, and the training feedback is no better than fresh feedback. *mixed*: both
            are aligned, and the training feedback is better than fresh feedback. *absent*: the
            training feedback is not aligned. *n/a*: there are too few draws.
    """

    observed: float | None
    mean: float | None
    spread: float | None
    p_upper: float | None
    p_two_sided: float | None
    z: float | None
    word: NullWord


@dataclass(frozen=True)
class NullReading:
    """Alignments compared with their null.

    Attributes:
        per_layer: the alignment at each layer, the embedding first.
        over_all: the mean alignment over all layers.
        deep: the mean alignment over the blocks.
        draws: how many times fresh feedback was drawn.
        convention: how alignment was measured.
        measured_on: the samples on which alignment was measured.
        fresh_deep: for each draw of fresh feedback, the mean alignment over the blocks.
        unit: the unit of the alignments.
    """

    per_layer: tuple[CalibratedAlignment, ...]
    over_all: CalibratedAlignment
    deep: CalibratedAlignment
    draws: int
    convention: str
    measured_on: str
    fresh_deep: tuple[float, ...] = ()
    unit: str = "cosine"


def calibrate(observed: Tensor, fresh: Tensor, convention: str, measured_on: str) -> NullReading:
    """Compare alignments `observed`, (layers,), with alignments `fresh`, (draws, layers)."""
    layers = [calibrate_one(float(o), f) for o, f in zip(observed, fresh.T, strict=True)]
    deep = fresh[:, 1:].mean(1)
    return NullReading(
        per_layer=tuple(layers),
        over_all=calibrate_one(float(observed.mean()), fresh.mean(1)),
        deep=calibrate_one(float(observed[1:].mean()), deep),
        draws=len(fresh),
        convention=convention,
        measured_on=measured_on,
        fresh_deep=tuple(deep.tolist()),
    )


def calibrate_one(observed: float, draws: Tensor) -> CalibratedAlignment:
    """Compare one alignment with its fresh draws; return NO_CALIBRATION if any of them is NaN."""
    if not bool(draws.isfinite().all()) or observed != observed:  # noqa: PLR0124 – NaN
        return NO_CALIBRATION
    mean, spread = float(draws.mean()), float(draws.std()) if len(draws) > 1 else 0.0
    above = int((draws >= observed - ROUNDING).sum())
    further = int(((draws - mean).abs() >= abs(observed - mean) - ROUNDING).sum())
    p_upper = (1 + above) / (1 + len(draws))
    any_feedback = float(torch.quantile(draws, LEVEL)) > 0
    words: dict[tuple[bool, bool], NullWord] = {
        (True, False): "specific",
        (True, True): "mixed",
        (False, True): "generic",
        (False, False): "absent",
    }
    word = words[p_upper <= LEVEL, any_feedback] if observed > 0 else "absent"
    if (1 + len(draws)) * LEVEL < 1:
        word = "n/a"
    return CalibratedAlignment(
        observed=observed,
        mean=mean,
        spread=spread,
        p_upper=p_upper,
        p_two_sided=(1 + further) / (1 + len(draws)),
        z=(observed - mean) / spread if spread > ROUNDING else None,
        word=word,
    )


NO_CALIBRATION = CalibratedAlignment(None, None, None, None, None, None, "n/a")
