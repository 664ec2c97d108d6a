"""Training what is left of a study, from its folder alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.scheduling.cohort_training import check_rules
from depthgauge.scheduling.execution import Execution, Prepared, check_executor, train_job
from depthgauge.scheduling.job import Job
from depthgauge.scheduling.resources import choose_device
from depthgauge.scheduling.status import status_of
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.provenance import command_line
from depthgauge.store.quarantine import put_aside
from depthgauge.store.study_folder import StudyFile, StudyFolder, check_study


def resume_study(folder: Path, execution: Execution, names: Sequence[str] = ()) -> None:
    """Train the cohorts of a study's plan that are left, or those of these names."""
    study, file, device = _open(folder, execution)
    plan = study.plan_files.read()
    for name in names:
        if name not in plan.cohorts:
            raise UserError(f"--cohorts {name}: the plan has {', '.join(plan.cohorts)}")
    cohorts = plan.in_effect(names) if names else plan.current
    _train(study, file, device, cohorts, execution)


def retry_failed(folder: Path, execution: Execution) -> None:
    """Put what was written down of failures aside, and train those runs again."""
    study, file, device = _open(folder, execution)
    runs = [failed.run for failed in status_of(folder).failed]
    if not runs:
        raise UserError(f"no run of {folder} has failed")
    plan = study.plan_files.read()
    names = dict.fromkeys(plan.cohort_of[run].name for run in runs)
    cohorts = [plan.cohorts[name] for name in names]
    for cohort in cohorts:
        check_rules(cohort)
    for run in runs:
        path = study.paths(run).failed_path
        put_aside(path, "is of an attempt before this one", quietly=True)
    _train(study, file, device, cohorts, execution)


def _open(folder: Path, execution: Execution) -> tuple[StudyFolder, StudyFile, str]:
    """The study, if it is one, what fixes its results, and the device they are trained on."""
    config = execution.config
    check_executor(config.executor)
    if config.executor == "slurm":
        raise UserError(
            "resume cannot submit to Slurm; run the original command with --executor slurm"
        )
    check_study(folder)
    study = StudyFolder(folder)
    file = study.read()
    assert file is not None  # noqa: S101
    wanted = config.device if config.device != "auto" else file.device or "auto"
    device = choose_device(wanted, config.executor)
    study.check_device(file, device.partition(":")[0])
    return study, file, device


def _train(
    study: StudyFolder,
    file: StudyFile,
    device: str,
    cohorts: Sequence[CohortPlan],
    execution: Execution,
) -> None:
    study.mend(
        (identity, cohort.recipe.epochs) for cohort in cohorts for identity in cohort.identities
    )
    left = [cohort for cohort in cohorts if study.open_runs(cohort)]
    names, folder = tuple(cohort.name for cohort in left), study.path.resolve()
    how = (device, file.threads, execution.config.save_every, command_line(), file.engine)
    train_job(Prepared(study, left, Job(folder, names, *how)), execution)
