"""`depthgauge resume` and `retry`: train what is left of a study, from its folder alone."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.options import add_executor_options, seconds
from depthgauge.cli.training import executor_of, say_failures, train_job
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.store.plan_files import CohortPlan, Plan


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `resume` and `retry` to the command line."""
    resume = subparsers.add_parser(
        "resume",
        help="train what is left of a study, from its folder alone",
        description="Train what was planned in DIR and is not done; rules from files must be where "
        "they were. A folder with study.json and plan/ alone is the whole study over again.",
    )
    retry = subparsers.add_parser("retry", help="train the runs of a study that failed once more")
    for parser in (resume, retry):
        parser.add_argument("study", metavar="DIR", help="folder of a study")
        parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, … (auto)")
        add_executor_options(parser)
        parser.add_argument("--save-every", type=seconds, default=60.0, metavar="SECONDS")
    resume.add_argument(
        "--cohorts",
        nargs="+",
        metavar="NAME",
        help="these cohorts of the plan alone: one task of an array",
    )
    retry.add_argument("--failed", action="store_true", help="the runs that raised an error")
    resume.set_defaults(run=run_resume)
    retry.set_defaults(run=run_retry, cohorts=None)


def run_resume(args: argparse.Namespace) -> int:
    """Train the plan's cohorts, or those that were asked for."""
    from depthgauge.cli.options import choose_device
    from depthgauge.executors.job import Job
    from depthgauge.store.provenance import command_line
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.status import check_study

    folder, execute = Path(args.study), executor_of(args)
    if args.executor == "slurm":
        raise UserError("--executor slurm goes with the command that planned the study")
    check_study(folder)
    study = StudyFolder(folder)
    file, cohorts = study.read(), study.plan_files.read().current
    assert file is not None  # noqa: S101
    if args.cohorts is not None:
        cohorts = _chosen(study.plan_files.read(), args.cohorts)
    configs = [config for cohort in cohorts for config in cohort.configs]
    for config in configs:
        study.run(config).mend()
    left = [cohort for cohort in cohorts if study.open_runs(cohort)]
    wanted = args.device if args.device != "auto" else file.device or "auto"
    device = choose_device(wanted, args.executor)
    study.check_device(file, device.partition(":")[0])
    names = tuple(cohort.name for cohort in left)
    job = Job(folder.resolve(), names, device, file.threads, args.save_every, command_line())
    train_job(study, left, job, execute)
    failed = say_failures(study, configs)
    planned = study.plan_files.read().cohort_of
    done = sum(study.paths(identity).result_path.exists() for identity in planned)
    print(f"{done} of {len(planned)} runs in {folder} are done")
    return int(failed)


def _chosen(plan: Plan, names: list[str]) -> list[CohortPlan]:
    for name in names:
        if name not in plan.cohorts:
            raise UserError(f"--cohorts {name}: the plan has {', '.join(plan.cohorts)}")
    return plan.in_effect(names)


def run_retry(args: argparse.Namespace) -> int:
    """Put what was written down of failures aside, and train those runs again."""
    from depthgauge.store.plan_files import PlanFiles
    from depthgauge.store.quarantine import put_aside
    from depthgauge.store.run_paths import RunPaths
    from depthgauge.studies.status import status_of

    if not args.failed:
        raise UserError("say what to retry: --failed")
    folder = Path(args.study)
    failed = status_of(folder)["failed"]
    if not failed:
        raise UserError(f"no run of {folder} has failed")
    cohort_of = PlanFiles(folder / "plan").read().cohort_of
    args.cohorts = list(dict.fromkeys(cohort_of[one["run"]].name for one in failed))
    for one in failed:
        path = RunPaths(folder / "runs" / one["run"]).failed_path
        put_aside(path, "is of an attempt before this one", quietly=True)
    return run_resume(args)
