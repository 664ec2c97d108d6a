"""Decision utility: which rules each way of reporting would walk back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from depthgauge.verdict.diagnostics import SeedReadings
from depthgauge.verdict.judge import judge
from depthgauge.verdict.thresholds import Thresholds

ABOVE_CHANCE = 0.02


@dataclass(frozen=True)
class Evidence:
    """What could be reported of one run; None where it was not measured."""

    accuracy: float
    chance: float
    alignment: float | None
    stability: float | None
    readings: SeedReadings
    bp_gain: float | None = None


Fails = Callable[[Evidence, Thresholds], bool]


def _accuracy(evidence: Evidence, _: Thresholds) -> bool:
    return evidence.accuracy - evidence.chance < ABOVE_CHANCE


def _alignment(evidence: Evidence, _: Thresholds) -> bool:
    return evidence.alignment is not None and evidence.alignment <= 0


def _diagnostic(name: str) -> Fails:
    def fails(evidence: Evidence, thresholds: Thresholds) -> bool:
        return name in judge([evidence.readings], thresholds, evidence.bp_gain).fired

    return fails


def _stability(evidence: Evidence, thresholds: Thresholds) -> bool:
    return evidence.stability is not None and evidence.stability > thresholds.stability


_COMMON: tuple[Fails, ...] = (_accuracy, _alignment)
_EACH: dict[str, Fails] = {
    "D1": _diagnostic("D1"),
    "D2": _diagnostic("D2"),
    "D2s": _stability,
    "D3": _diagnostic("D3"),
}
STRATEGIES: dict[str, tuple[Fails, ...]] = {
    "accuracy": (_accuracy,),
    "accuracy + mean Γ": _COMMON,
    **{f"accuracy + mean Γ + {name}": (*_COMMON, fails) for name, fails in _EACH.items()},
    "all": (*_COMMON, *_EACH.values()),
}
"""Seven ways of reporting, each with the evidence that it looks at."""


def walked_back(
    runs: Sequence[Evidence], thresholds: Thresholds | None = None
) -> dict[str, tuple[int, int]]:
    """For each strategy, in how many of the runs some of its evidence fails, by point values."""
    used = thresholds or Thresholds()
    return {
        strategy: (sum(any(fails(run, used) for fails in parts) for run in runs), len(runs))
        for strategy, parts in STRATEGIES.items()
    }
