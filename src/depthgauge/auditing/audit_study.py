"""The audit of a study's runs, or of a folder of checkpoints."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from depthgauge.auditing.checkpoints import find_checkpoints, networks_in_files
from depthgauge.auditing.conclusion import conclude, depth_gain_of_bp
from depthgauge.auditing.gauge_readings import read_networks, read_untrained
from depthgauge.auditing.networks import NetworkUnderAudit, networks_of_runs, shallow_rules
from depthgauge.config import RunConfig, SharedConfig
from depthgauge.diagnosis.report import Report
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import Selection
from depthgauge.results.load import load_earlier_audit
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.results.used_depth_of_runs import used_depths
from depthgauge.scheduling.execution import ShowProgress
from depthgauge.scheduling.grid import Grid
from depthgauge.store.done_runs import DoneRun
from depthgauge.store.provenance import command_line, environment
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task
from depthgauge.verdict.thresholds import Thresholds


def audit_study(
    study: StudyResult,
    grid: Grid,
    thresholds: Thresholds,
    show: ShowProgress,
    *,
    done: Mapping[str, DoneRun],
    selection: Mapping[str, Selection],
    as_published: bool = False,
    earlier: Audit | None = None,
) -> StudyResult:
    """Audit the study's runs that are planned in the grid; return the study with the audit.

    `done` has, by id, the runs that were done before training began, with the networks that were
    read then. `earlier` is the audit that the new audit replaces.
    """
    runs = runs_of(study, grid)
    rules = {choice.label: choice.build() for choice in grid.rules}
    by_label: dict[str, list[RunResult]] = {}
    for run in runs:
        by_label.setdefault(run.label, []).append(run)
    audit = _read_and_conclude(
        networks_of_runs(runs, grid.task, rules, done),
        grid.task,
        study.config,
        thresholds,
        show,
        untrained=read_untrained(grid.net, grid.task, grid.seeds, thresholds),
        as_published=as_published,
        used_depths=used_depths(by_label, study.chance),
        shallow=shallow_rules(runs),
        selection=selection,
        earlier=earlier.with_labels_of(study.runs).verdicts if earlier else None,
    )
    return study.with_audit(audit.model_copy(update={"floors": study.floors}))


def runs_of(study: StudyResult, grid: Grid) -> list[RunResult]:
    """Return the study's runs that are in the grid, and the extra runs of the same rules and seeds.

    In an extra run, some of the last k blocks are frozen or trained on noise.
    """
    rungs = {run.identity for run in grid.runs()}
    rules = {(run.kind.rule.as_text, run.kind.recipe.as_text) for run in grid.runs()}
    return [
        run
        for run in study.runs
        if run.identity in rungs
        or (not run.config.is_rung and _is_of(run.config, rules, grid.seeds))
    ]


def _is_of(config: RunConfig, rules: Collection[tuple[str, str]], seeds: Sequence[int]) -> bool:
    return (config.rule.as_text, config.recipe.as_text) in rules and config.seed in seeds


def audit_checkpoints(
    config: StudyConfig, task: Task, thresholds: Thresholds, show: ShowProgress
) -> tuple[StudyResult, list[Path]]:
    """Return an audit of the checkpoints in a folder, and the checkpoint files that are missing."""
    folder = Path(config.checkpoints or "")
    present, missing = checkpoint_files(config)
    shared = SharedConfig(
        task=task.config,
        checkpoints=str(folder),
        factory=config.own_net,
        blocks=config.blocks,
        frozen_acc=config.frozen_acc,
    )
    own = (config.own_net, config.blocks)
    networks = networks_in_files(present, task, config.frozen_acc, *own)
    written = Path(config.out) if config.out else folder
    before = load_earlier_audit(written) if config.out else None
    audit = _read_and_conclude(
        networks,
        task,
        shared,
        thresholds,
        show,
        untrained={},
        earlier=before.verdicts if before is not None and before.config == shared else None,
    )
    study = StudyResult(written.resolve().name, written, shared, task.chance, (), audit)
    return study, missing


def checkpoint_files(config: StudyConfig) -> tuple[list[Path], list[Path]]:
    """Return the existing and the missing checkpoints for the labels and seeds in `config`."""
    given = config.model_fields_set
    return find_checkpoints(
        Path(config.checkpoints or ""),
        config.rules if "rules" in given else None,
        config.seeds if "seeds" in given else None,
    )


def _read_and_conclude(
    networks: Sequence[NetworkUnderAudit],
    task: Task,
    config: SharedConfig,
    thresholds: Thresholds,
    show: ShowProgress,
    *,
    untrained: Mapping[str, Report],
    as_published: bool = False,
    **beside: Any,
) -> Audit:
    """Read every network while showing progress, and return the audit."""
    bp_gain, count = depth_gain_of_bp(networks), 0
    with show(len(networks), "reading", 0, list) as meter:

        def on_read(name: str) -> None:
            nonlocal count
            count += 1
            meter.at(name, count)

        reports = read_networks(
            networks, task, thresholds, bp_gain, on_read, as_published=as_published
        )
    return conclude(
        reports,
        config,
        thresholds,
        chance=task.chance,
        bp_gain=bp_gain,
        untrained=untrained,
        provenance=environment() | {"command": command_line()},
        **beside,
    )
