"""What each rule of a study has come to while it is trained, read off its folder."""

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
    """Where some runs are: those that were begun, each at its newest epoch.

    Attributes:
        begun: how many.
        epochs: the lowest and the highest of them; None where there are none.
        accuracy: mean over those that have not diverged; None where there are none.
        diverged: how many have.
    """

    begun: int
    epochs: tuple[int, int] | None
    accuracy: float | None
    diverged: int


@dataclass(frozen=True)
class Fired:
    """A diagnostic that fired, in how many runs with all blocks trained, and from which epoch on.

    The epoch is that of the first such run.
    """

    name: str
    runs: int
    epoch: int


@dataclass(frozen=True)
class LiveRule:
    """What one rule has come to.

    Attributes:
        rule: what tables call it.
        epochs: how many each run will have.
        runs, finished, failed: how many were planned, have their result, raised an error.
        full: of the runs with all blocks trained.
        frozen: of those with none, where there are blocks.
        fired: by the point values of the runs with all blocks trained, where there are blocks.
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
        """Whether there is anything to see of it."""
        return bool(self.finished or self.failed or self.full.begun or self.frozen.begun)

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it is left to train."""
        return self.finished + self.failed == self.runs


class _Run:
    """One run; when it is finished it is read for the last time. A k of None is no rung."""

    def __init__(
        self, study: StudyFolder, identity: str, k: int | None, blocks: int, thresholds: Thresholds
    ) -> None:
        self._study, self._identity = study, identity
        self.full, self.frozen = k == blocks, k == 0 < blocks
        self.finished, self.failed = False, False
        self.metrics = MetricsTail(f"{study.runs}/{identity}/{METRICS}", thresholds)

    def look(self) -> None:
        """See how far it is."""
        if self.finished:
            return
        finished = self._study.is_done(self._identity)
        if self.full or self.frozen:
            self.metrics.look()
        self.finished = finished
        self.failed = not finished and self._study.has_failed(self._identity)


@dataclass(frozen=True)
class _Rule:
    name: str
    epochs: int
    blocks: int
    runs: list[_Run]


class LiveReader:
    """Reads what has become of every rule in a study's plan; each look reads only what is new."""

    def __init__(self, study: StudyFolder, thresholds: Thresholds | None = None) -> None:
        self._study, self._plan = study, Plan([])
        self._thresholds = thresholds or Thresholds()
        self._runs: dict[str, _Run] = {}
        self._rules: list[_Rule] = []

    def read(self) -> list[LiveRule]:
        """Every rule as it is now, in the order of planning."""
        plan = self._study.plan_files.read()
        if plan is not self._plan:
            self._plan, self._rules = plan, list(self._arranged(plan))
        for run in self._runs.values():
            run.look()
        return [_live(rule) for rule in self._rules]

    def _arranged(self, plan: Plan) -> Iterator[_Rule]:
        """The plan rule by rule; runs that are known already stay."""
        cohorts = plan.current
        newest_first = [rule.config for cohort in reversed(cohorts) for rule in cohort.rules]
        names = distinct_labels(newest_first)
        rules: dict[str, _Rule] = {}
        for cohort in cohorts:
            blocks = cohort.net.blocks
            for identity, (rule, k, _) in zip(cohort.identities, cohort.runs, strict=True):
                is_rung = cohort.rules[rule].intervention == NO_INTERVENTION
                place = k if is_rung else None
                new_run = _Run(self._study, identity, place, blocks, self._thresholds)
                run = self._runs.setdefault(identity, new_run)
                name = names[cohort.rules[rule].config.as_text]
                new = _Rule(name, cohort.recipe.epochs, blocks, [])
                rules.setdefault(name, new).runs.append(run)
        yield from rules.values()


def _live(rule: _Rule) -> LiveRule:
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
