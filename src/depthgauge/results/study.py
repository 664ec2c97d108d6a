"""A study, complete or not: its runs, its audit and its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.config import SharedConfig
from depthgauge.errors import UserError
from depthgauge.results.audit import Audit
from depthgauge.results.floors import Floors, LinearFloor, floors_of
from depthgauge.results.ladder import Ladder
from depthgauge.results.rule import RuleResult, gain_of_bp, rule_results
from depthgauge.results.run import STATES, RunResult, State
from depthgauge.scheduling.slurm import Submitted
from depthgauge.store.provenance import Provenance
from depthgauge.verdict.judge import Verdict
from depthgauge.verdict.thresholds import Thresholds

if TYPE_CHECKING:
    import pandas as pd

    from depthgauge.report.plot import Plot
    from depthgauge.results.data_frames import FrameName


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A study, or an audit of networks that no study trained.

    Attributes:
        name: the name of the study's folder.
        folder: the folder with its files.
        config: the configuration that all its runs share.
        chance: the accuracy of guessing; None if it is not known.
        runs: all runs that were planned or begun, rule by rule.
        audit: the audit of the study; None without one.
        device, threads: the device and the number of threads. Results agree bit for bit only if
            both are the same. None without a study.
        problems: a sentence for each file that could not be read.
        submitted: the job on a cluster that trains the remaining runs, if there is one.
        linear_floor: the accuracy of a linear classifier of the input; None if none was fitted.
    """

    name: str
    folder: Path
    config: SharedConfig
    chance: float | None
    runs: tuple[RunResult, ...]
    audit: Audit | None = None
    device: str | None = None
    threads: int | None = None
    problems: tuple[str, ...] = ()
    submitted: Submitted | None = None
    linear_floor: LinearFloor | None = None

    @property
    def score(self) -> str:
        """Return the word for this study's numbers named `accuracy`: accuracy, or R²."""
        return self.config.recipe.score if self.config.recipe else "accuracy"

    def __getitem__(self, label: str) -> RuleResult:
        """Return a rule by its label."""
        if label not in self.rules:
            known = ", ".join(self.rules) or "none"
            raise UserError(f"the study {self.name} has no rule {label!r}; its rules are: {known}")
        return self.rules[label]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the labels of the rules."""
        return iter(self.rules)

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.rules)

    @cached_property
    def rules(self) -> Mapping[str, RuleResult]:
        """Return a mapping from labels to rules: audited rules first, rules with a control last."""
        return rule_results(self.runs, self.audit, self.thresholds, self.bp_gain, self.chance)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdict on each rule, by label."""
        return {label: rule.verdict for label, rule in self.rules.items()}

    @cached_property
    def bp_gain(self) -> float | None:
        """Return the accuracy that backpropagation gains from depth; None if it is not known."""
        if self.audit is not None and self.audit.bp_gain is not None:
            return self.audit.bp_gain
        return gain_of_bp(self.runs, self.thresholds)

    @cached_property
    def floors(self) -> Floors | None:
        """Return the floors: the accuracies of a linear classifier and a network without blocks."""
        if not self.runs and self.audit is not None:
            return self.audit.floors
        return floors_of(self.runs, self.linear_floor, self.chance)

    @property
    def thresholds(self) -> Thresholds:
        """Return the audit's thresholds; without an audit, the thresholds of the protocol."""
        return self.audit.thresholds if self.audit else Thresholds()

    @cached_property
    def seeds(self) -> list[int]:
        """Return every seed of the runs and of the audit."""
        audited = [network.seed for network in self.audit.networks] if self.audit else []
        return sorted({*(run.config.seed for run in self.runs), *audited})

    @cached_property
    def counts(self) -> dict[State, int]:
        """Return the number of runs in each state."""
        states = [run.state for run in self.runs]
        return {state: states.count(state) for state in STATES if state in states}

    @property
    def is_complete(self) -> bool:
        """Return whether every run has ended."""
        return all(run.has_ended for run in self.runs)

    @property
    def has_lost_runs(self) -> bool:
        """Return whether a run diverged or failed."""
        return any(state in self.counts for state in ("diverged", "failed"))

    @property
    def has_documents(self) -> bool:
        """Return whether the folder holds `study.json` or `audit.json`."""
        return any((self.folder / name).is_file() for name in ("study.json", "audit.json"))

    @property
    def provenances(self) -> list[Provenance]:
        """Return the provenance of each result, then the provenance of the audit."""
        runs = [run.provenance for run in self.runs if run.provenance]
        return [*runs, *([self.audit.provenance] if self.audit else [])]

    def ladder(self, provenance: Provenance | None = None) -> Ladder:
        """Return the ladders of the rules that have finished or diverged runs."""
        rules = {
            label: tuple(rung for rung in rule.ladder if rung.accuracies or rung.diverged)
            for label, rule in self.rules.items()
        }
        shown = {label: self.rules[label] for label, rungs in rules.items() if rungs}
        return Ladder(
            config=self.config,
            chance=self.chance,
            provenance=dict(provenance or {}),
            rules={label: rules[label] for label in shown},
            twins={label: rule.twins for label, rule in shown.items() if rule.twins},
            used_depth={label: rule.used_depth for label, rule in shown.items() if rule.used_depth},
            floors=self.floors,
        )

    def with_audit(self, audit: Audit) -> StudyResult:
        """Return the study with this audit added; the audit takes over the labels of the runs."""
        return replace(self, audit=audit.with_labels_of(self.runs))

    def to_dataframe(self, name: FrameName = "runs") -> pd.DataFrame:
        """Return a table of the study: "runs", "epochs", "ladder" or "layers"."""
        from depthgauge.results.data_frames import frame_of  # noqa: PLC0415

        return frame_of(self, name)

    def plot(self, name: str = "ladder") -> Plot:
        """Draw a figure: "ladder", "audit", "layers", "training" or "null"."""
        from depthgauge.report.plot import plot_of  # noqa: PLC0415

        return plot_of(self, name)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the study as one HTML page, and return the path of the page."""
        from depthgauge.report.page.study_page import write_study_page  # noqa: PLC0415

        return write_study_page(self, None if path is None else Path(path))

    def _repr_html_(self) -> str:
        from depthgauge.report.notebook import study_html  # noqa: PLC0415

        return study_html(self)

    def __repr__(self) -> str:
        lines = [f"{label}: {verdict}" for label, verdict in self.verdicts.items()]
        return "\n".join([f"{self.name}, {len(self.runs)} runs", *lines])
