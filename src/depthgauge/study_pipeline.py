"""The stages of a study: train runs, load them, read diagnostics, judge, and write documents."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from depthgauge.auditing.audit_study import audit_checkpoints, audit_study
from depthgauge.auditing.ladder_stages import find_next_runs
from depthgauge.auditing.linear_floor import add_linear_floor
from depthgauge.auditing.selection import candidates, choose_settings, selection_grid
from depthgauge.errors import OptionError, UserError
from depthgauge.report.progress import show_progress
from depthgauge.report.result_files import write_audit, write_ladder
from depthgauge.report.texts.failures import failure_sentences
from depthgauge.results.audit_parts import Selection
from depthgauge.results.load import load_earlier_audit, load_opened
from depthgauge.results.study import StudyResult
from depthgauge.rules.choice import RuleChoice
from depthgauge.scheduling.dry_run import StudyPlan, plan_study
from depthgauge.scheduling.execution import Execution, Prepared, train
from depthgauge.scheduling.grid import (
    Grid,
    build_grid,
    depth_of,
    folder_of,
    given_rules,
    load_task_of,
    usual_rungs,
)
from depthgauge.scheduling.variations import at_all_settings
from depthgauge.store.files import make_folder
from depthgauge.store.relative_paths import SELECTION
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task
from depthgauge.verdict.thresholds import Thresholds, thresholds_from


def run_audit(
    config: StudyConfig, task: Task | None, thresholds: Thresholds, *, as_published: bool = False
) -> StudyResult:
    """Choose settings if the option `select` is given; then train, judge and write the study."""
    judged = config.changed(validation=0) if config.select else config
    used = task or load_task_of(judged)
    folder, rules = folder_of(judged, used), given_rules(config)
    selection, failures = dict[str, Selection](), list[str]()
    if config.select:
        tried, selection, rules = _select(config, judged, used, rules, folder / SELECTION)
        if tried.submitted is not None:
            return tried
        failures = failure_sentences(tried)
    else:
        rules = at_all_settings(rules, config.variations)
    grid = build_grid(judged, used, rules)
    prepared, submitted = train(
        grid, folder, execution_of(judged), networks=True, thresholds=thresholds
    )
    study = load_prepared(prepared, audited=False)
    study = replace(study, chance=used.chance, submitted=submitted)
    if config.twins:
        study = _train_called_for(study, grid, execution_of(judged))
    if study.submitted is not None:
        return study
    if config.floors:
        study = add_linear_floor(study, used, _say)
    study = audit_study(
        study,
        grid,
        thresholds,
        show_progress,
        done=prepared.done,
        selection=selection,
        as_published=as_published,
        earlier=load_earlier_audit(folder),
    )
    write_audit(study)
    return replace(study, problems=(*failures, *study.problems))


def _select(
    config: StudyConfig, judged: StudyConfig, task: Task, rules: Sequence[RuleChoice], folder: Path
) -> tuple[StudyResult, dict[str, Selection], list[RuleChoice]]:
    """Train every setting of every rule, and choose each rule's best setting.

    The accuracy on held-out samples decides which setting is best. Return the study that trained
    the settings, the choice for each rule, and the rules to audit.
    """
    grid = selection_grid(config, rules, build_grid(judged, task, rules))
    samples = len(grid.task.evaluation)
    execution = execution_of(config.changed(validation=samples))
    prepared, submitted = train(grid, folder, execution)
    study = replace(load_prepared(prepared, audited=False), submitted=submitted)
    return study, *choose_settings(candidates(study, grid), rules, config.variations, samples)


def run_ladder(config: StudyConfig, task: Task | None) -> StudyResult:
    """Train every rule with each number of trained blocks, and write the ladders."""
    used = task or load_task_of(config)
    grid, folder = build_grid(config, used), folder_of(config, used)
    prepared, submitted = train(grid, folder, execution_of(config))
    study = replace(load_prepared(prepared), submitted=submitted)
    if config.twins:
        study = _train_called_for(study, grid, execution_of(config))
    if study.submitted is not None:
        return study
    if config.floors:
        study = add_linear_floor(study, used, _say)
    write_ladder(study)
    return study


def _train_called_for(study: StudyResult, grid: Grid, execution: Execution) -> StudyResult:
    """Train the further runs that used depth needs: swap twins, confirming runs, noise runs.

    There are several rounds, because the results of one round may make further runs necessary.
    With Slurm only one round is submitted. For the next round the user gives the same command
    again.
    """
    while study.submitted is None and (called := find_next_runs(study, grid)) is not None:
        prepared, submitted = train(called, study.folder, execution)
        study = replace(load_prepared(prepared, before=study), submitted=submitted)
    return study


def run_checkpoint_audit(
    config: StudyConfig, task: Task | None, thresholds: Thresholds
) -> StudyResult:
    """Read and judge networks that were trained elsewhere; write the audit if `out` is given."""
    for option in ("vary", "controls", "select"):
        if getattr(config, option):
            raise UserError(
                f"--{option} changes training, but with --checkpoints nothing is trained; leave "
                f"out --{option}"
            )
    if config.out is not None:
        make_folder(Path(config.out))
    used = task or load_task_of(config)
    study, missing = audit_checkpoints(config, used, thresholds, show_progress)
    for path in missing:
        _say(f"depthgauge: skipped {path}: there is no such file")
    if config.out is not None:
        write_audit(study)
    return study


def plan_of(config: StudyConfig, task: Task | None) -> StudyPlan:
    """Return the plan of the runs to train first; with `select` these runs try the settings."""
    judged = config.changed(validation=0) if config.select else config
    used, rules = task or load_task_of(judged), given_rules(config)
    folder = folder_of(judged, used)
    if config.select:
        grid = selection_grid(config, rules, build_grid(judged, used, rules))
        return plan_study(grid, folder / SELECTION, execution_of(judged))
    grid = build_grid(judged, used, at_all_settings(rules, config.variations))
    return plan_study(grid, folder, execution_of(judged))


def load_prepared(
    prepared: Prepared, *, audited: bool = True, before: StudyResult | None = None
) -> StudyResult:
    """Return the trained study; do not read the runs again that were done before training.

    Args:
        prepared: the study and the runs that were done before training.
        audited: also load the verdicts in `audit.json`.
        before: an earlier result, whose runs are not read again.
    """
    return load_opened(prepared.study, prepared.file, prepared.done, audited=audited, before=before)


def execution_of(config: StudyConfig) -> Execution:
    """Return the `Execution` of a study; the `Execution` shows progress on standard error."""
    return Execution(config, _say, show_progress)


def thresholds_of(config: StudyConfig) -> Thresholds:
    """Return the thresholds of a study; refuse a name that is not a threshold."""
    try:
        return thresholds_from(config.thresholds)
    except UserError as error:
        raise OptionError("thresholds", str(error)) from error


def with_both_ends(config: StudyConfig) -> StudyConfig:
    """Return the configuration with two values of k added: 0 and the number of blocks.

    k is the number of trained blocks. An audit always trains with these two values.
    """
    need_blocks(config, "audit")
    depth = depth_of(config)
    rungs = config.k or usual_rungs(depth)
    return config.changed(k=list(dict.fromkeys([0, depth, *rungs])))


def need_blocks(config: StudyConfig, command: str) -> None:
    """Refuse a network without blocks."""
    if not depth_of(config):
        raise OptionError("depth", f"--depth 0: {command} needs at least one block; choose a depth")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
