"""Load a study from its folder: each file is read once, and each damaged file is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from depthgauge.config import RunConfig
from depthgauge.errors import UserError
from depthgauge.results.audit import Audit
from depthgauge.results.floors import FLOORS, LinearFloor, read_linear_floor
from depthgauge.results.ladder import read_ladder
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.done_runs import DoneRun
from depthgauge.store.files import read_json, read_small
from depthgauge.store.labels import distinct_labels
from depthgauge.store.plan_files import Plan
from depthgauge.store.result_file import ResultFile, find_fault
from depthgauge.store.run_paths import CONFIG, FAILED, RESULT, read_config
from depthgauge.store.study_folder import StudyDocument, StudyFolder


def load(folder: Path | str) -> StudyResult:
    """Return the study in a folder; the study may be incomplete, or have an audit only.

    Files that cannot be used are left out, and the study's `problems` name them.
    """
    study = StudyFolder(Path(folder))
    file = study.read()
    return _Loader(study, {}).load(file) if file else _load_audit(study.path)


def load_opened(
    study: StudyFolder,
    file: StudyDocument,
    done: Mapping[str, DoneRun],
    *,
    audited: bool = True,
    before: StudyResult | None = None,
) -> StudyResult:
    """Return the study in a folder, given its study file and its `done` runs.

    If `audited` is false, the study's audit is not read, because a new audit will replace it. If
    the study was loaded before, `before` is its earlier result. The ended runs, the accuracy of
    chance, the linear floor, the audit and the problems are then taken from `before`.
    """
    if before is None:
        return _Loader(study, done).load(file, audited=audited)
    now = _Loader(study, done, before).load(file, audited=False)
    problems = (*before.problems, *now.problems)
    return replace(now, chance=before.chance, audit=before.audit, problems=problems)


def load_earlier_audit(folder: Path) -> Audit | None:
    """Return the audit that a new audit will replace; None without a readable audit."""
    path = folder / "audit.json"
    try:
        return _read_audit(path) if path.is_file() else None
    except UserError:
        return None


def _load_audit(folder: Path) -> StudyResult:
    """Return the study in a folder that has an audit only, without runs."""
    path, name = folder / "audit.json", folder.resolve().name
    if not path.is_file():
        raise UserError(
            f"{folder} is not the folder of a study: it has neither study.json nor "
            "audit.json; give the folder of a study"
        )
    try:
        audit = _read_audit(path)
    except UserError as error:
        raise UserError(f"{error}; nothing was changed") from error
    return StudyResult(name, folder, audit.config, audit.chance, (), audit)


def _read_audit(path: Path) -> Audit:
    try:
        return Audit.model_validate(read_json(path))
    except (ValidationError, UserError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not an audit of this version; audit the study again") from error


class _Loader:
    """Reads the folder of one study, and collects a sentence for each file with a problem."""

    def __init__(
        self,
        study: StudyFolder,
        done: Mapping[str, DoneRun],
        before: StudyResult | None = None,
    ) -> None:
        self._study, self._done, self._problems = study, done, list[str]()
        self._before = before
        self._ended = {run.identity: run for run in before.runs if run.has_ended} if before else {}

    def load(self, file: StudyDocument, *, audited: bool = True) -> StudyResult:
        folder = self._study.path
        audit = self._audit(folder / "audit.json") if audited else None
        plan = self._plan()
        runs = tuple(self._runs(plan))
        return StudyResult(
            name=folder.resolve().name,
            folder=folder,
            config=file.base,
            chance=self._chance(plan, audit),
            runs=runs,
            audit=None if audit is None else audit.with_labels_of(runs),
            device=file.device,
            threads=file.threads,
            linear_floor=self._linear_floor(),
            problems=tuple(self._problems),
        )

    def _audit(self, path: Path) -> Audit | None:
        try:
            return _read_audit(path) if path.is_file() else None
        except UserError as error:
            self._problems.append(str(error))
            return None

    def _linear_floor(self) -> LinearFloor | None:
        if self._before is not None:
            return self._before.linear_floor
        try:
            return read_linear_floor(self._study.path / FLOORS)
        except UserError as error:
            self._problems.append(str(error))
            return None

    def _plan(self) -> Plan:
        try:
            return self._study.plan_files.read()
        except UserError as error:
            self._problems.append(str(error))
            return Plan([])

    def _chance(self, plan: Plan, audit: Audit | None) -> float | None:
        """Return the accuracy of chance, from the plan; in older studies, from audit or ladder."""
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
        """Yield the runs that were planned or begun, rule by rule.

        If a rule has several versions, the newest version has the label without a hash.
        """
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
        """Yield the configuration of each run that no plan names.

        Such a run is of an old version of a rule, or was copied into the folder.
        """
        runs = self._study.runs
        for path in sorted(runs.iterdir()) if runs.is_dir() else ():
            has_begun = (path / CONFIG).exists() or (path / RESULT).exists()
            if path.name in planned or not has_begun:
                continue
            try:
                known = self._done.get(path.name)
                yield known.config if known else read_config(path / CONFIG)
            except UserError as error:
                self._problems.append(str(error))

    def _running(self, plan: Plan) -> set[str]:
        """Return the ids of the runs that a process is training."""
        return {
            identity
            for cohort in plan.current
            if self._study.open_runs(cohort) and self._study.claims.holder(cohort.name) is not None
            for identity in cohort.identities
        }

    def _run(self, config: RunConfig, label: str, running: set[str]) -> RunResult:
        if config.identity in self._ended:
            return replace(self._ended[config.identity], label=label)
        folder = self._study.runs / config.identity
        result = self._result(config.identity)
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
                right=result.get("right"),
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

    def _result(self, identity: str) -> ResultFile | None:
        """Return the result of a run; None if the result is missing or unusable."""
        if identity in self._done:
            return self._done[identity].result
        path = f"{self._study.runs}/{identity}/{RESULT}"
        result: ResultFile | None = self._read(path)
        if result is not None and (wrong := find_fault(result, identity)) is not None:
            self._problems.append(f"{path} {wrong}; remove it to train the run again")
            return None
        return result

    def _read(self, path: str) -> Any:
        """Return the object in a JSON file; None if the file is missing or unreadable."""
        try:
            content = from_json(read_small(path))
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            self._problems.append(f"{path} cannot be read ({error}); nothing was changed")
            return None
        if not isinstance(content, dict):
            self._problems.append(f"{path} cannot be read (it is not a JSON object)")
            return None
        return content
