"""Everything that is known of a study, read off its folder: what reports are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from depthgauge.config import NetConfig, Recipe, RunConfig, TaskConfig
from depthgauge.controls import control_in
from depthgauge.errors import UserError
from depthgauge.store.claims import Claims
from depthgauge.store.files import read_json
from depthgauge.store.metrics_file import Line, MetricsFile
from depthgauge.store.plan_files import Plan
from depthgauge.store.result_file import what_is_wrong
from depthgauge.store.run_paths import RunPaths, read_config
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.audit_file import read_audit
from depthgauge.studies.ladder import rule_names
from depthgauge.verdict.over_training import first_fired, from_metrics
from depthgauge.verdict.thresholds import Thresholds

State = Literal["finished", "diverged", "failed", "running", "stopped", "not begun"]

STATES: tuple[State, ...] = ("finished", "diverged", "failed", "running", "stopped", "not begun")


@dataclass(frozen=True)
class GatheredRun:
    """One run, whatever has become of it.

    Attributes:
        config: what defines it.
        method: what its rule is called here: its label, with a hash where two versions share it.
        state: `stopped` runs were begun and nobody is training them.
        accuracy: of the last epoch, where it finished.
        reason: why it failed.
        lines: what was read after each epoch.
        provenance: where its result comes from; empty while there is none.
    """

    config: RunConfig
    method: str
    state: State
    accuracy: float | None
    reason: str | None
    lines: Sequence[Line]
    provenance: dict[str, Any]

    @property
    def identity(self) -> str:
        """The name of its folder."""
        return self.config.identity

    @property
    def control(self) -> str | None:
        """Which control it was trained under, if any."""
        return control_in(self.config.rule.label)

    @property
    def is_full(self) -> bool:
        """Whether all blocks are trained, and there are some."""
        return self.config.k == self.config.net.blocks > 0

    def first_fired(self, thresholds: Thresholds) -> dict[str, int | None]:
        """The epoch at which D1 and D2 first fired; nothing where epochs were lost."""
        if [line["epoch"] for line in self.lines] != list(range(len(self.lines))):
            return {}
        return first_fired(from_metrics(self.lines), thresholds)

    @property
    def done(self) -> bool:
        """Whether it has its result."""
        return self.state in ("finished", "diverged")


@dataclass(frozen=True)
class Gathered:
    """A study, or the networks of an audit without one.

    Attributes:
        name: of the folder.
        base: task, network and recipe, as far as they are known.
        chance: accuracy of chance, None where it is not known.
        runs: all that were planned or begun, rule by rule.
        audit: the content of `audit.json`, None where there is none.
        device, threads: what fixes the results bit for bit; None where there is no study.
    """

    name: str
    base: dict[str, Any]
    chance: float | None
    runs: tuple[GatheredRun, ...]
    audit: dict[str, Any] | None
    device: str | None = None
    threads: int | None = None

    @property
    def methods(self) -> list[str]:
        """The rules in the order of the audit, then of the plan; controls come last."""
        audited = self.audit["verdicts"] if self.audit else ()
        every = dict.fromkeys([*audited, *(run.method for run in self.runs)])
        return sorted(every, key=lambda method: control_in(method) is not None)

    @property
    def seeds(self) -> list[int]:
        """All seeds."""
        audited = [row["seed"] for row in self.audit["summary"]] if self.audit else []
        return sorted({*(run.config.seed for run in self.runs), *audited})

    @property
    def counts(self) -> dict[State, int]:
        """How many runs are in each state."""
        states = [run.state for run in self.runs]
        return {state: states.count(state) for state in STATES if state in states}

    @property
    def complete(self) -> bool:
        """Whether nothing is left to train."""
        return all(run.done or run.state == "failed" for run in self.runs)

    @property
    def thresholds(self) -> Thresholds:
        """Those of the audit, or the protocol's."""
        return Thresholds(**self.audit["thresholds"]) if self.audit else Thresholds()


def gather(folder: Path) -> Gathered:
    """Read a study's folder; also one that is half done, or has an audit alone."""
    study, audit = StudyFolder(folder), read_audit(folder / "audit.json")
    file = study.read()
    name = folder.resolve().name
    if file is None and audit is None:
        raise UserError(
            f"{folder} is not the folder of a study: it has neither study.json nor audit.json"
        )
    if file is None:
        assert audit is not None  # noqa: S101
        return Gathered(name, audit["config"], audit["config"].get("chance"), (), audit)
    _check_base(study.study_path, file.base)
    runs = tuple(_runs(study))
    chance = _chance(study, audit)
    return Gathered(name, file.base, chance, runs, audit, file.device, file.threads)


class _Base(BaseModel):
    """What a study is about."""

    task: TaskConfig
    net: NetConfig
    recipe: Recipe


def _check_base(path: Path, base: dict[str, Any]) -> None:
    try:
        _Base.model_validate(base)
    except ValidationError as error:
        raise UserError(f"{path} is damaged; nothing was changed") from error


def _chance(study: StudyFolder, audit: dict[str, Any] | None) -> float | None:
    """As the plan has it; studies older than that have it in their documents."""
    planned = [file.chance for file in study.plan_files.read().files if file.chance is not None]
    if planned:
        return planned[-1]
    if audit is not None:
        return float(audit["config"]["chance"])
    ladder = study.path / "ladder.json"
    known = read_json(ladder).get("config", {}).get("chance") if ladder.is_file() else None
    return None if known is None else float(known)


def _runs(study: StudyFolder) -> Iterator[GatheredRun]:
    """All that were planned or begun, rule by rule; a rule's newest version has the plain label."""
    plan = study.plan_files.read()
    configs = [config for cohort in plan.current for config in cohort.configs]
    known = {config.identity for config in configs}
    paths = sorted(study.runs.glob("*/config.json")) if study.runs.is_dir() else []
    unplanned = [read_config(path) for path in paths if path.parent.name not in known]
    names = rule_names(config.rule for config in [*reversed(configs), *unplanned])
    configs += unplanned
    running = _running(study, plan)
    order = list(dict.fromkeys(names[config.rule.as_text] for config in configs))
    configs.sort(key=lambda c: (order.index(names[c.rule.as_text]), c.k, c.seed))
    for config in configs:
        yield _run(study.paths(config.identity), config, names[config.rule.as_text], running)


def _running(study: StudyFolder, plan: Plan) -> set[str]:
    """The runs of cohorts that somebody is training."""
    claims = Claims(study.path / "claims")
    held = [cohort for cohort in plan.current if study.open_runs(cohort)]
    return {
        identity
        for cohort in held
        if claims.holder(cohort.name) is not None
        for identity in cohort.identities
    }


def _run(paths: RunPaths, config: RunConfig, method: str, running: set[str]) -> GatheredRun:
    lines = MetricsFile(paths.metrics_path).lines()
    state: State = "stopped" if lines else "not begun"
    reason, accuracy, ended = None, None, {}
    if paths.result_path.exists():
        ended = _read_result(paths.result_path, config.identity)
        state, accuracy, lines = ended["status"], ended["final_acc"], lines or [ended["final"]]
    elif (failure := paths.failure) is not None:
        state, reason, ended = "failed", str(failure.get("reason", "not recorded")), failure
    elif config.identity in running:
        state = "running"
    provenance = dict(ended.get("provenance", {}))
    return GatheredRun(config, method, state, accuracy, reason, lines, provenance)


def _read_result(path: Path, identity: str) -> dict[str, Any]:
    result = read_json(path)
    if (wrong := what_is_wrong(result, identity)) is not None:
        raise UserError(f"{path} {wrong}; nothing was changed: remove it to have it made again")
    return dict(result)
