"""Load a study from its folder: every file is opened once, and what is damaged is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from depthgauge.config import RunConfig
from depthgauge.errors import UserError
from depthgauge.results.audit import Audit
from depthgauge.results.ladder import read_ladder
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.files import read_json, read_small
from depthgauge.store.labels import distinct_labels
from depthgauge.store.plan_files import Plan
from depthgauge.store.result_file import what_is_wrong
from depthgauge.store.run_paths import FAILED, RESULT, read_config
from depthgauge.store.study_folder import StudyFolder


def load(folder: Path | str) -> StudyResult:
    """Return the study in a folder, also one that is half done, or has an audit alone.

    What cannot be used is left out and named in the study's `problems`.
    """
    return _Loader(Path(folder)).load()


class _Loader:
    """Reads one folder, and keeps what is wrong in it."""

    def __init__(self, folder: Path) -> None:
        self._study, self._problems = StudyFolder(folder), list[str]()

    def load(self) -> StudyResult:
        folder, file = self._study.path, self._study.read()
        audit = self._audit(folder / "audit.json", needed=file is None)
        name = folder.resolve().name
        if file is None:
            if audit is None:
                raise UserError(
                    f"{folder} is not the folder of a study: it has neither study.json nor "
                    "audit.json"
                )
            return StudyResult(name, folder, audit.config, audit.chance, (), audit)
        plan = self._plan()
        runs = tuple(self._runs(plan))
        return StudyResult(
            name=name,
            folder=folder,
            config=file.base,
            chance=self._chance(plan, audit),
            runs=runs,
            audit=None if audit is None else audit.called_as_in(runs),
            device=file.device,
            threads=file.threads,
            problems=tuple(self._problems),
        )

    def _audit(self, path: Path, *, needed: bool) -> Audit | None:
        if not path.is_file():
            return None
        try:
            return Audit.model_validate(read_json(path))
        except (ValidationError, UserError, KeyError, TypeError, AttributeError) as error:
            sentence = f"{path} is not an audit of this version; audit the study again"
            if needed:
                raise UserError(f"{sentence}; nothing was changed") from error
            self._problems.append(sentence)
            return None

    def _plan(self) -> Plan:
        try:
            return self._study.plan_files.read()
        except UserError as error:
            self._problems.append(str(error))
            return Plan([])

    def _chance(self, plan: Plan, audit: Audit | None) -> float | None:
        """Accuracy of chance as the plan has it; older studies have it in their documents."""
        planned = [file.chance for file in plan.files if file.chance is not None]
        if planned:
            return planned[-1]
        if audit is not None:
            return audit.chance
        path = self._study.path / "ladder.json"
        if not path.is_file():
            return None
        try:
            return read_ladder(path).chance
        except UserError as error:
            self._problems.append(str(error))
            return None

    def _runs(self, plan: Plan) -> Iterator[RunResult]:
        """All that were planned or begun, rule by rule; a rule's newest version has the label."""
        configs = [config for cohort in plan.current for config in cohort.configs]
        unplanned = list(self._unplanned({config.identity for config in configs}))
        labels = distinct_labels(config.rule for config in [*reversed(configs), *unplanned])
        configs += unplanned
        running = self._running(plan)
        order = {
            label: place
            for place, label in enumerate(
                dict.fromkeys(labels[config.rule.as_text] for config in configs)
            )
        }
        configs.sort(key=lambda c: (order[labels[c.rule.as_text]], c.k, c.seed))
        for config in configs:
            yield self._run(config, labels[config.rule.as_text], running)

    def _unplanned(self, planned: set[str]) -> Iterator[RunConfig]:
        """Runs from before there were plans, or put there by hand."""
        runs = self._study.runs
        for path in sorted(runs.glob("*/config.json")) if runs.is_dir() else ():
            if path.parent.name not in planned:
                try:
                    yield read_config(path)
                except UserError as error:
                    self._problems.append(str(error))

    def _running(self, plan: Plan) -> set[str]:
        """The runs of cohorts that somebody is training."""
        return {
            identity
            for cohort in plan.current
            if self._study.open_runs(cohort) and self._study.claims.holder(cohort.name) is not None
            for identity in cohort.identities
        }

    def _run(self, config: RunConfig, label: str, running: set[str]) -> RunResult:
        folder = self._study.runs / config.identity
        result = self._read(f"{folder}/{RESULT}")
        if result is not None and (wrong := what_is_wrong(result, config.identity)) is not None:
            self._problems.append(f"{folder / RESULT} {wrong}; remove it to train the run again")
            result = None
        if result is not None:
            return RunResult(
                config,
                label,
                result["status"],
                folder,
                accuracy=result["final_acc"],
                diverged_epoch=result["diverged_epoch"],
                provenance=result["provenance"],
                last=result["final"],
            )
        failure = self._read(f"{folder}/{FAILED}")
        if failure is not None:
            reason = str(failure.get("reason", "not recorded"))
            provenance = failure.get("provenance") or {}
            return RunResult(config, label, "failed", folder, reason=reason, provenance=provenance)
        if config.identity in running:
            return RunResult(config, label, "running", folder)
        begun = RunResult(config, label, "stopped", folder)
        return begun if begun.epochs else RunResult(config, label, "waiting", folder)

    def _read(self, path: str) -> Any:
        """The content of a JSON file; None where there is none, or it cannot be read."""
        try:
            content = from_json(read_small(path))
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            self._problems.append(f"{path} cannot be read ({error}); nothing was changed")
            return None
        if not isinstance(content, dict):
            self._problems.append(f"{path} cannot be read (it is not an object)")
            return None
        return content
