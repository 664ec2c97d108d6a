"""Decision utility: the runs whose results each reporting strategy would walk back (withdraw).

A reporting strategy is a set of checks, such as accuracy alone, or accuracy and one diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from depthgauge.diagnostics.contract import Diagnostic, Readings
from depthgauge.diagnostics.evidence import RuleEvidence
from depthgauge.diagnostics.registry import diagnostics, verdict_diagnostics
from depthgauge.verdict.thresholds import Thresholds

ABOVE_CHANCE = 0.02
"""An accuracy passes if it exceeds that of chance by at least this share."""


@dataclass(frozen=True)
class RunEvidence:
    """The reported numbers of one run; a number that was not measured is None.

    A diverged run has the accuracy None.
    """

    accuracy: float | None
    chance: float
    alignment: float | None
    readings: Readings
    bp_gain: float | None = None


Fails = Callable[[RunEvidence, Thresholds], bool | None]
"""A check of one reported number: returns whether it fails; None if it was not measured."""


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
    """Return the checks that each reporting strategy makes, by the strategy's name.

    The strategy "all" has only those diagnostics that have a part in the verdict.
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
    """Count the runs that each strategy walks back, and the runs that it can decide about.

    A strategy walks a run back if any check of the strategy fails. The checks compare the numbers
    of the run itself, not intervals. A strategy can decide about a run if a check fails, or if
    every number was measured.
    """
    used, counts = thresholds or Thresholds(), {}
    for strategy, parts in strategies().items():
        outcomes = [[fails(run, used) for fails in parts] for run in runs]
        failed = sum(True in run for run in outcomes)
        passed = sum(not any(run) and None not in run for run in outcomes)
        counts[strategy] = (failed, failed + passed)
    return counts
