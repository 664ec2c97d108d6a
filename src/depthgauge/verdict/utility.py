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
    """What could be reported of one run; None where it was not measured.

    A run that diverged has no accuracy.
    """

    accuracy: float | None
    chance: float
    alignment: float | None
    stability: float | None
    readings: SeedReadings
    bp_gain: float | None = None


Fails = Callable[[Evidence, Thresholds], bool | None]
"""Whether a piece of evidence fails; None where it was not measured."""


def _accuracy(evidence: Evidence, _: Thresholds) -> bool:
    return evidence.accuracy is None or evidence.accuracy - evidence.chance < ABOVE_CHANCE


def _alignment(evidence: Evidence, _: Thresholds) -> bool | None:
    return None if evidence.alignment is None else evidence.alignment <= 0


def _diagnostic(name: str) -> Fails:
    def fails(evidence: Evidence, thresholds: Thresholds) -> bool | None:
        verdict = judge([evidence.readings], thresholds, evidence.bp_gain)
        (found,) = (d.finding for d in verdict.diagnostics if d.name == name)
        return None if found == "untested" else found == "fires"

    return fails


def _stability(evidence: Evidence, thresholds: Thresholds) -> bool | None:
    return None if evidence.stability is None else evidence.stability > thresholds.stability


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
    """For each strategy, in how many of the runs some of its evidence fails, by point values.

    Counted are the runs that can be decided: something fails, or everything was measured.
    """
    used, table = thresholds or Thresholds(), {}
    for strategy, parts in STRATEGIES.items():
        found = [[fails(run, used) for fails in parts] for run in runs]
        walked = sum(True in run for run in found)
        table[strategy] = (walked, walked + sum(not any(run) and None not in run for run in found))
    return table
