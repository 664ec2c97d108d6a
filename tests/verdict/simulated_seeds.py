"""Readings over seeds with a known truth, and the verdict's words for many studies at once.

`words` is a second implementation, written from the protocol alone. It uses one-sample t statistics
instead of intervals, and takes arrays: thousands of simulated studies, or a grid of thresholds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from depthgauge.diagnostics.contract import Readings
from depthgauge.verdict.thresholds import Thresholds

Array = NDArray[np.float64]
LIMITS: dict[str, float] = dict(Thresholds())
ERROR_NORM = LIMITS["gradient"] / LIMITS["error_share"]
"""‖e‖ at which both floors of D2 say the same."""

HEALTHY = {
    "growth": 1.0,
    "gradient": 0.047,
    "error_share": 0.052,
    "numerics": 1.0,
    "depth_gain": 0.226,
}
DEGENERATE = {
    "growth": 694.0,
    "gradient": 5.4e-7,
    "error_share": 5.9e-7,
    "numerics": 1.0,
    "depth_gain": -0.043,
}
"""Readings of one network, about as published for BP and for DFA."""

N128 = 128
SEED = 1
REPETITIONS = 20_000
SEED_COUNTS = (3, 5, 10)
LOG_SPREADS = (0.1, 0.5, 1.0)
_NOISE: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t4": lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2),
    "skewed down": lambda rng, shape: 1 - rng.standard_exponential(shape),
    "skewed up": lambda rng, shape: rng.standard_exponential(shape) - 1,
}
"""Distributions over seeds of ln D1, ln D2 and D3, with mean 0 and variance 1."""


@dataclass(frozen=True)
class Truth:
    """The medians of D1's and D2's readings, the mean of D3's and its spread over seeds.

    With `one_noise` both readings of D2 are off by the same factor, as they are where ‖e‖ hardly
    varies over seeds; otherwise they are independent.
    """

    growth: float
    gradient: float
    error_share: float
    depth_gain: float
    gain_spread: float
    one_noise: bool = True


BP = Truth(1.0, 3.7e-4 * N128, 3.7e-4 * N128 / ERROR_NORM, 0.615 - 0.389, np.hypot(0.004, 0.001))
WORST_HEALTHY = replace(
    BP, growth=11.0, gradient=1.0e-4 * N128, error_share=1.0e-4 * N128 / ERROR_NORM
)
DFA = Truth(694.0, 4.2e-9 * N128, 4.2e-9 * N128 / ERROR_NORM, 0.306 - 0.349, np.hypot(0.008, 0.003))
"""Published: accuracies ± std of the rule and of its frozen baseline, taken as independent."""

_D1 = {"growth": LIMITS["growth"]}
_GRADIENT, _SHARE = {"gradient": LIMITS["gradient"]}, {"error_share": LIMITS["error_share"]}
_D2 = {**_GRADIENT, **_SHARE}
_D3 = {"depth_gain": LIMITS["depth_gain"]}
AT_THE_THRESHOLD: dict[str, Truth] = {
    "D1": replace(BP, **_D1),
    "D2, gradient (share far below)": replace(BP, error_share=DFA.error_share, **_GRADIENT),
    "D2, share (gradient far below)": replace(BP, gradient=DFA.gradient, **_SHARE),
    "D2, both, independent": replace(BP, one_noise=False, **_D2),
    "D2, both, one noise": replace(BP, **_D2),
    "D3": replace(BP, **_D3),
    "all, D2's independent": replace(BP, one_noise=False, **_D1, **_D2, **_D3),
    "all, D2's one noise": replace(BP, **_D1, **_D2, **_D3),
}
"""The named readings exactly at their threshold, the others as for BP."""


def simulate(truth: Truth, n: int, log_spread: float, tails: str) -> dict[str, Array]:
    """Draw studies of n seeds; `log_spread` is the standard deviation of ln D1 and of ln D2."""
    noise = _NOISE[tails](np.random.default_rng(SEED), (4, REPETITIONS, n))
    share_noise = noise[1] if truth.one_noise else noise[2]
    return {
        "growth": truth.growth * np.exp(log_spread * noise[0]),
        "gradient": truth.gradient * np.exp(log_spread * noise[1]),
        "error_share": truth.error_share * np.exp(log_spread * share_noise),
        "depth_gain": truth.depth_gain + truth.gain_spread * noise[3],
    }


@cache
def word_shares(truth: Truth, n: int, log_spread: float, tails: str = "normal") -> Counter[str]:
    """Return the share of studies of n seeds that end with each word."""
    found = words(simulate(truth, n, log_spread, tails))
    return Counter({word: float(np.mean(found == word)) for word in np.unique(found)})


def worst_at_the_threshold(word: str, case: str, n: int, tails: str) -> float:
    """Return the largest share of studies at the threshold with this word, over all spreads.

    The spread of D3 in points is the same number as the log spread of D1 and D2.
    """
    return max(
        word_shares(replace(AT_THE_THRESHOLD[case], gain_spread=s / 100), n, s, tails)[word]
        for s in LOG_SPREADS
    )


def words(
    readings: Mapping[str, Array],
    limits: Mapping[str, float | Array] = LIMITS,
    bp_gain: float | None = None,
) -> NDArray[np.str_]:
    """Return a word for each row of the readings (rows, seeds), or for each value of a limit."""
    rate = limits["error_rate"] / 3
    growth, gradient, share = (
        _side(np.log(readings[name]), np.log(limits[name]), rate)
        for name in ("growth", "gradient", "error_share")
    )
    tested: bool | NDArray[np.bool_] = "depth_gain" in readings
    gain = np.zeros_like(growth)
    if tested:
        gain = _side(readings["depth_gain"], limits["depth_gain"], rate)
        tested = np.full(gain.shape, True) if bp_gain is None else bp_gain >= limits["depth_gain"]
    reference = np.maximum(gradient, share)
    fires = (growth > 0) | (reference < 0) | (tested & (gain < 0))
    no_alarm = (growth < 0) & (reference > 0)
    return np.select(
        [fires, no_alarm & tested & (gain > 0), no_alarm & ~np.asarray(tested)],
        ["walk back", "trustworthy", "no alarm, depth untested"],
        "inconclusive",
    )


def _side(values: Array, threshold: float | Array, rate: float) -> NDArray[np.int_]:
    """Return 1 if the mean is above the threshold with confidence, −1 if below, else 0."""
    n = values.shape[-1]
    distance = values.mean(-1) - threshold
    error = values.std(-1, ddof=1) * stats.t.ppf(1 - rate / 2, n - 1) / np.sqrt(n) if n > 1 else 0
    return np.where(distance > error, 1, np.where(distance < -error, -1, 0))


def as_seeds(readings: Mapping[str, Array], row: int = 0) -> list[Readings]:
    """Return one simulated study in the form that the package takes."""
    columns = zip(*(values[row] for values in readings.values()), strict=True)
    return [dict(zip(readings, map(float, column), strict=True)) for column in columns]


def changed(seed: Readings, **readings: float | None) -> Readings:
    """Return the same network with some readings changed."""
    return {**seed, **readings}


@st.composite
def studies(draw: st.DrawFn, most_seeds: int = 5, least_seeds: int = 1) -> dict[str, Array]:
    """Draw a study near or far from the thresholds, tight or scattered, with or without D3."""
    n = draw(st.integers(least_seeds, most_seeds))
    noise = st.lists(st.floats(-1, 1), min_size=n, max_size=n).map(np.array)
    spread = st.sampled_from([0.01, 0.3, 1.0])
    offsets = [draw(st.floats(-4, 4)) + draw(spread) * draw(noise) for _ in range(3)]
    names = ["growth", "gradient", "error_share"]
    readings = {
        name: LIMITS[name] * np.exp(offset[None])
        for name, offset in zip(names, offsets, strict=True)
    }
    if draw(st.booleans()):
        offsets.append(draw(st.floats(-0.1, 0.3)) + 0.1 * draw(spread) * draw(noise))
        readings["depth_gain"] = LIMITS["depth_gain"] + offsets[-1][None]
    assume(all(abs(offset.mean()) > 1e-6 for offset in offsets))
    return readings
