"""The live status: the accuracy and alarms of each rule while a study is trained.

The status is read from the study's folder. `report/texts/live_status.py` turns it into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from depthgauge.config import NO_INTERVENTION
from depthgauge.scheduling.metrics_tail import MetricsTail
from depthgauge.store.labels import distinct_labels
from depthgauge.store.plan_files import Plan
from depthgauge.store.run_paths import METRICS
from depthgauge.store.study_folder import StudyFolder
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class LiveRuns:
    """The live status of a group of runs, each at its newest epoch.

    Attributes:
        begun: the number of runs that have begun.
        epochs: the lowest and the highest epoch of these runs; None if no run has begun.
        accuracy: the mean accuracy of the runs that have not diverged; None if it is not known.
        diverged: the number of runs that diverged.
    """

    begun: int
    epochs: tuple[int, int] | None
    accuracy: float | None
    diverged: int


@dataclass(frozen=True)
class Fired:
    """A diagnostic that fired in some runs with all blocks trained.

    Attributes:
        name: the diagnostic's name, such as D1.
        runs: the number of runs in which it fired.
        epoch: the earliest epoch at which it fired.
    """

    name: str
    runs: int
    epoch: int


@dataclass(frozen=True)
class LiveRule:
    """The live status of one rule.

    Attributes:
        rule: the rule's label.
        epochs: the number of epochs of each run.
        runs: the number of planned runs.
        finished: the number of runs that have a result.
        failed: the number of runs that raised an error.
        full: the runs with all blocks trained.
        frozen: the runs with no block trained; empty for a network without blocks.
        fired: the diagnostics that fired in runs with all blocks trained.
    """

    rule: str
    epochs: int
    runs: int
    finished: int
    failed: int
    full: LiveRuns
    frozen: LiveRuns
    fired: tuple[Fired, ...]

    @property
    def has_begun(self) -> bool:
        """Whether any run of the rule has begun."""
        return bool(self.finished or self.failed or self.full.begun or self.frozen.begun)

    @property
    def has_ended(self) -> bool:
        """Whether every run of the rule has finished or failed."""
        return self.finished + self.failed == self.runs


class _Run:
    """The state of one run; once the run is finished, its files are not read again.

    A run with an intervention belongs to no rung of the ladder, so its `k` is None.
    """

    def __init__(
        self, study: StudyFolder, identity: str, k: int | None, blocks: int, thresholds: Thresholds
    ) -> None:
        self._study, self._identity = study, identity
        self.full, self.frozen = k == blocks, k == 0 < blocks
        self.finished, self.failed = False, False
        self.metrics = MetricsTail(f"{study.runs}/{identity}/{METRICS}", thresholds)

    def update(self) -> None:
        """Read the present state of the run from its files."""
        if self.finished:
            return
        finished = self._study.is_done(self._identity)
        if self.full or self.frozen:
            self.metrics.update()
        self.finished = finished
        self.failed = not finished and self._study.has_failed(self._identity)


@dataclass(frozen=True)
class _RuleRuns:
    name: str
    epochs: int
    blocks: int
    runs: list[_Run]


class LiveReader:
    """Reads the live status of every rule in a study's plan; each call reads only new metrics."""

    def __init__(self, study: StudyFolder, thresholds: Thresholds | None = None) -> None:
        self._study, self._plan = study, Plan([])
        self._thresholds = thresholds or Thresholds()
        self._runs: dict[str, _Run] = {}
        self._rules: list[_RuleRuns] = []

    def read(self) -> list[LiveRule]:
        """Return the live status of every rule, in the order of planning."""
        plan = self._study.plan_files.read()
        if plan is not self._plan:
            self._plan, self._rules = plan, list(self._runs_by_rule(plan))
        for run in self._runs.values():
            run.update()
        return [_live(rule) for rule in self._rules]

    def _runs_by_rule(self, plan: Plan) -> Iterator[_RuleRuns]:
        """Yield the runs of each rule in the plan; runs that were read before keep their state."""
        cohorts = plan.current
        newest_first = [rule.config for cohort in reversed(cohorts) for rule in cohort.rules]
        names = distinct_labels(newest_first)
        rules: dict[str, _RuleRuns] = {}
        for cohort in cohorts:
            blocks = cohort.net.blocks
            for identity, (rule, k, _) in zip(cohort.identities, cohort.runs, strict=True):
                is_rung = cohort.rules[rule].intervention == NO_INTERVENTION
                place = k if is_rung else None
                new_run = _Run(self._study, identity, place, blocks, self._thresholds)
                run = self._runs.setdefault(identity, new_run)
                name = names[cohort.rules[rule].config.as_text]
                new = _RuleRuns(name, cohort.recipe.epochs, blocks, [])
                rules.setdefault(name, new).runs.append(run)
        yield from rules.values()


def _live(rule: _RuleRuns) -> LiveRule:
    full = [run.metrics for run in rule.runs if run.full]
    return LiveRule(
        rule.name,
        rule.epochs,
        len(rule.runs),
        sum(run.finished for run in rule.runs),
        sum(run.failed for run in rule.runs),
        _live_runs(full),
        _live_runs([run.metrics for run in rule.runs if run.frozen]),
        tuple(_fired(full)) if rule.blocks else (),
    )


def _live_runs(runs: Sequence[MetricsTail]) -> LiveRuns:
    epochs = [run.epoch for run in runs if run.epoch is not None]
    known = [run.accuracy for run in runs if run.accuracy is not None and not run.diverged]
    return LiveRuns(
        len(epochs),
        (min(epochs), max(epochs)) if epochs else None,
        fmean(known) if known else None,
        sum(run.diverged for run in runs),
    )


def _fired(runs: Sequence[MetricsTail]) -> Iterator[Fired]:
    for name in dict.fromkeys(name for run in runs for name in run.fired):
        epochs = [at for run in runs if (at := run.fired.get(name)) is not None]
        if epochs:
            yield Fired(name, len(epochs), min(epochs))
