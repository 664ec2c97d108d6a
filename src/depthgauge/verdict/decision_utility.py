"""Decision utility: which runs would each reporting strategy walk back?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Diagnostic, Readings
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.registry import diagnostics, verdict_diagnostics
from depthgauge.verdict.thresholds import Thresholds

ABOVE_CHANCE = 0.02
"""An accuracy must exceed chance by this share."""


@dataclass(frozen=True)
class RunEvidence:
    """The reported numbers of one run; None where a number was not measured.

    A run that diverged has no accuracy.
    """

    accuracy: float | None
    chance: float
    alignment: float | None
    readings: Readings
    bp_gain: float | None = None


Fails = Callable[[RunEvidence, Thresholds], bool | None]
"""Says whether one piece of evidence fails; None where it was not measured."""


def _accuracy(evidence: RunEvidence, _: Thresholds) -> bool:
    return evidence.accuracy is None or evidence.accuracy - evidence.chance < ABOVE_CHANCE


def _alignment(evidence: RunEvidence, _: Thresholds) -> bool | None:
    return None if evidence.alignment is None else evidence.alignment <= 0


def _diagnostic(diagnostic: Diagnostic) -> Fails:
    def fails(evidence: RunEvidence, used: Thresholds) -> bool | None:
        of_run = RuleEvidence([evidence.readings], used, used.error_rate_of_each, evidence.bp_gain)
        finding = diagnostic.decide(of_run)
        return None if finding.untested else (finding.published or finding.outcome) == "fires"

    return fails


def strategies() -> dict[str, tuple[Fails, ...]]:
    """Return the reporting strategies, each with the evidence that it looks at.

    Like the verdict, "all" leaves out the diagnostics that do not count.
    """
    common: tuple[Fails, ...] = (_accuracy, _alignment)
    each = {diagnostic.id: _diagnostic(diagnostic) for diagnostic in diagnostics()}
    return {
        "accuracy": (_accuracy,),
        "accuracy + mean Γ": common,
        **{f"accuracy + mean Γ + {name}": (*common, fails) for name, fails in each.items()},
        "all": (*common, *(each[diagnostic.id] for diagnostic in verdict_diagnostics())),
    }


def count_walk_backs(
    runs: Sequence[RunEvidence], thresholds: Thresholds | None = None
) -> dict[str, tuple[int, int]]:
    """Count for each strategy the runs that it walks back, and the runs that it can decide.

    A strategy walks a run back if any of its evidence fails by point values. It can decide about a
    run if some evidence fails, or if all evidence was measured.
    """
    used, counts = thresholds or Thresholds(), {}
    for strategy, parts in strategies().items():
        outcomes = [[fails(run, used) for fails in parts] for run in runs]
        failed = sum(True in run for run in outcomes)
        passed = sum(not any(run) and None not in run for run in outcomes)
        counts[strategy] = (failed, failed + passed)
    return counts
