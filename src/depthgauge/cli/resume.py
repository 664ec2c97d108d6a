"""`depthgauge resume`, `depthgauge retry`: go on with a study, from its folder alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.output import say_problems, write_page
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.results.study import StudyResult

USED = ("device", "executor", "address", "save_every")
"""The options of a study that may differ when its training goes on."""

EXECUTOR = {
    "choices": ("local", "ray"),
    "help": "where cohorts are trained: on this machine or on a Ray cluster (local); for Slurm, "
    "give the command that planned the study again",
}
"""How argparse takes --executor here: only the command that planned a study submits to Slurm."""


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add the options of `resume`."""
    parser.description = (
        "Train the planned runs of DIR that are left. Rules from files must be where they were. A "
        "folder with study.json and plan/ alone is enough to train the whole study again."
    )
    _add_common_options(parser)
    parser.add_argument(
        "--cohorts",
        nargs="+",
        default=(),
        metavar="NAME",
        help="train only these cohorts of the plan, as a task of a Slurm array does",
    )
    parser.set_defaults(run=_run_resume)


def add_retry(parser: argparse.ArgumentParser) -> None:
    """Add the options of `retry`."""
    _add_common_options(parser)
    parser.add_argument("--failed", action="store_true", help="the runs that raised an error")
    parser.set_defaults(run=_run_retry)


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the study's folder, and where its training goes on."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    add_study_options(parser, only=USED, instead={"executor": EXECUTOR})


def _run_resume(args: argparse.Namespace) -> int:
    from depthgauge.api import resume

    return _show_counts(resume(args.study, config_of(args), cohorts=args.cohorts))


def _run_retry(args: argparse.Namespace) -> int:
    from depthgauge.api import retry

    if not args.failed:
        raise UserError("say what to retry: --failed")
    return _show_counts(retry(args.study, config_of(args)))


def _show_counts(study: StudyResult) -> int:
    """Print how many runs are finished; write the page when all are."""
    say_problems(study)
    finished = sum(run.is_done for run in study.runs)
    print(f"{finished} of {len(study.runs)} runs in {study.folder} are finished", flush=True)
    page = write_page(study) if study.is_complete else None
    if page is not None:
        print(page)
    return int("failed" in study.counts)
