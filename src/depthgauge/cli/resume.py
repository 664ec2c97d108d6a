"""`depthgauge resume` and `retry`: train what is left of a study, from its folder alone."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from depthgauge.cli.options import add_executor_options, seconds
from depthgauge.cli.training import check_executor, say_failures, train_job
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from depthgauge.config import Engine, RunConfig
    from depthgauge.store.plan_files import CohortPlan, Plan
    from depthgauge.store.study_folder import StudyFolder


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
    retry.set_defaults(run=run_retry)


def run_resume(args: argparse.Namespace) -> int:
    """Train the plan's cohorts, or those that were asked for."""
    opened = _open(args)
    plan = opened.study.plan_files.read()
    return _train(args, opened, _chosen(plan, args.cohorts) if args.cohorts else plan.current)


def run_retry(args: argparse.Namespace) -> int:
    """Put what was written down of failures aside, and train their cohorts again."""
    from depthgauge.scheduling.cohort_training import check_rules
    from depthgauge.scheduling.status import status_of
    from depthgauge.store.quarantine import put_aside

    if not args.failed:
        raise UserError("say what to retry: --failed")
    opened = _open(args)
    runs = [one["run"] for one in status_of(opened.study.path)["failed"]]
    if not runs:
        raise UserError(f"no run of {opened.study.path} has failed")
    plan = opened.study.plan_files.read()
    names = dict.fromkeys(plan.cohort_of[run].name for run in runs)
    cohorts = [plan.cohorts[name] for name in names]
    for cohort in cohorts:
        check_rules(cohort)
    for run in runs:
        path = opened.study.paths(run).failed_path
        put_aside(path, "is of an attempt before this one", quietly=True)
    return _train(args, opened, cohorts)


class _Opened(NamedTuple):
    """A study whose training can go on here."""

    study: StudyFolder
    threads: int
    engine: Engine
    device: str


def _open(args: argparse.Namespace) -> _Opened:
    """The study, if it is one, and the options fit it."""
    from depthgauge.cli.options import choose_device
    from depthgauge.store.study_folder import StudyFolder, check_study

    check_executor(args)
    if args.executor == "slurm":
        raise UserError(
            "resume cannot submit to Slurm; run the original command with --executor slurm"
        )
    check_study(Path(args.study))
    study = StudyFolder(Path(args.study))
    file = study.read()
    assert file is not None  # noqa: S101
    wanted = args.device if args.device != "auto" else file.device or "auto"
    device = choose_device(wanted, args.executor)
    study.check_device(file, device.partition(":")[0])
    return _Opened(study, file.threads, file.engine, device)


def _chosen(plan: Plan, names: list[str]) -> list[CohortPlan]:
    for name in names:
        if name not in plan.cohorts:
            raise UserError(f"--cohorts {name}: the plan has {', '.join(plan.cohorts)}")
    return plan.in_effect(names)


def _failed(study: StudyFolder, cohorts: list[CohortPlan]) -> Iterator[RunConfig]:
    """The runs of these cohorts that raised an error."""
    for cohort in cohorts:
        for position, identity in enumerate(cohort.identities):
            if study.has_failed(identity):
                yield cohort.configs[position]


def _train(args: argparse.Namespace, opened: _Opened, cohorts: list[CohortPlan]) -> int:
    """Train what is left of these cohorts, and say how much of the plan is done."""
    from depthgauge.cli.report import write_page_after
    from depthgauge.results.load import load
    from depthgauge.scheduling.job import Job
    from depthgauge.store.provenance import command_line

    study = opened.study
    study.mend(
        (identity, cohort.recipe.epochs) for cohort in cohorts for identity in cohort.identities
    )
    left = [cohort for cohort in cohorts if study.open_runs(cohort)]
    names, folder = tuple(cohort.name for cohort in left), study.path.resolve()
    how = (opened.device, opened.threads, args.save_every, command_line(), opened.engine)
    job = Job(folder, names, *how)
    train_job(study, left, job, args)
    failed = say_failures(study, _failed(study, cohorts))
    planned = study.plan_files.read().cohort_of
    done = sum(study.is_done(identity) for identity in planned)
    failed_runs = sum(study.has_failed(identity) for identity in planned)
    ended = done + failed_runs == len(planned)
    with write_page_after(load(study.path) if ended else None):
        print(f"{done} of {len(planned)} runs in {study.path} are finished")
    return int(failed)
