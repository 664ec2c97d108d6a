"""Train the remaining or the failed runs of a study, using only the study's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.scheduling.cohort_training import check_rules
from depthgauge.scheduling.execution import Execution, Prepared, check_executor, train_job
from depthgauge.scheduling.resources import choose_device
from depthgauge.scheduling.worker import Job
from depthgauge.store.done_runs import read_done_runs
from depthgauge.store.network_sources import remember_sources
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.provenance import command_line
from depthgauge.store.quarantine import put_aside
from depthgauge.store.study_folder import StudyDocument, StudyFolder, read_study


def resume_study(folder: Path, execution: Execution, names: Sequence[str] = ()) -> Prepared:
    """Train the remaining runs of a study's plan; with `names`, only in the named cohorts."""
    study, file, device = _open(folder, execution)
    plan = study.plan_files.read()
    for name in names:
        if name not in plan.cohorts:
            raise UserError(
                f"--cohorts {name}: the plan has no cohort {name}; the cohorts of the plan are "
                f"{', '.join(plan.cohorts)}"
            )
    cohorts = plan.resolve(names) if names else plan.current
    return _train(study, file, device, cohorts, execution)


def retry_failed(folder: Path, execution: Execution) -> Prepared:
    """Put the `failed.json` of every failed run aside, and train those runs again."""
    study, file, device = _open(folder, execution)
    planned = study.plan_files.read().cohort_of
    runs = [run for run in planned if study.has_failed(run) and not study.is_done(run)]
    if not runs:
        raise UserError(
            f"no run of {folder} has failed; `depthgauge resume {folder}` trains unfinished runs"
        )
    cohorts = list({planned[run].name: planned[run] for run in runs}.values())
    for cohort in cohorts:
        check_rules(cohort)
    for run in runs:
        path = study.paths(run).failed_path
        put_aside(path, "is of an earlier attempt", quietly=True)
    return _train(study, file, device, cohorts, execution)


def _open(folder: Path, execution: Execution) -> tuple[StudyFolder, StudyDocument, str]:
    """Return the study, its `study.json`, and the device on which to train it."""
    config = execution.config
    check_executor(config.executor)
    if config.executor == "slurm":
        raise UserError(
            "resume cannot submit to Slurm; run the original command with --executor slurm"
        )
    study, file = read_study(folder)
    wanted = config.device if config.device != "auto" else file.device or "auto"
    device = choose_device(wanted, config.executor)
    study.check_device(file, device.partition(":")[0])
    return study, file, device


def _train(
    study: StudyFolder,
    file: StudyDocument,
    device: str,
    cohorts: Sequence[CohortPlan],
    execution: Execution,
) -> Prepared:
    for cohort in cohorts:
        remember_sources(study.path, cohort.net, cohort.net_typed)
    done = read_done_runs(
        study, ((config, False) for cohort in cohorts for config in cohort.configs)
    )
    left = [cohort for cohort in cohorts if study.has_open_runs(cohort, done)]
    names, folder = tuple(cohort.name for cohort in left), study.path.resolve()
    how = (device, file.threads, execution.config.save_every, command_line(), file.engine)
    prepared = Prepared(study, file, done, left, Job(folder, names, *how))
    train_job(prepared, execution)
    return prepared
