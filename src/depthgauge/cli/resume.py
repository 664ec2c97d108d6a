"""`depthgauge resume`: train the remaining runs of a study.

`depthgauge retry`: train the failed runs of a study again.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.output import say_problems, write_page
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.results.study import StudyResult

USED = ("device", "executor", "address", "save_every")
"""The options that may differ from those with which the study was started."""

EXECUTOR = {
    "choices": ("local", "ray"),
    "help": "where to train: on this machine or on a Ray cluster (local); for Slurm, run the "
    "original command again",
}
"""The arguments of argparse for --executor, without slurm, which these commands refuse."""


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add the options of `resume`."""
    parser.description = (
        "Train the planned runs of DIR that are not finished. Files of your own rules must still "
        "be at the paths in the plan. A folder with study.json and plan/ alone is enough to "
        "train the whole study again."
    )
    _add_common_options(parser)
    parser.add_argument(
        "--cohorts",
        nargs="+",
        default=(),
        metavar="NAME",
        help="train only these cohorts of the plan, as each task of a Slurm array job does",
    )
    parser.set_defaults(run=_run_resume)


def add_retry(parser: argparse.ArgumentParser) -> None:
    """Add the options of `retry`."""
    _add_common_options(parser)
    parser.add_argument(
        "--failed", action="store_true", help="retry the runs that raised an error (required)"
    )
    parser.set_defaults(run=_run_retry)


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the study's folder, and the options that say where to train."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    add_study_options(parser, only=USED, instead={"executor": EXECUTOR})


def _run_resume(args: argparse.Namespace) -> int:
    from depthgauge.api import resume

    return _show_counts(resume(args.study, config_of(args), cohorts=args.cohorts))


def _run_retry(args: argparse.Namespace) -> int:
    from depthgauge.api import retry

    if not args.failed:
        raise UserError("retry needs the option --failed, which retries the runs that failed")
    return _show_counts(retry(args.study, config_of(args)))


def _show_counts(study: StudyResult) -> int:
    """Print the number of finished runs; if all runs are finished, write the page.

    Return the exit status: 1 if a run failed, else 0.
    """
    say_problems(study)
    finished = sum(run.is_done for run in study.runs)
    print(f"{finished} of {len(study.runs)} runs in {study.folder} are finished", flush=True)
    page = write_page(study) if study.is_complete else None
    if page is not None:
        print(page)
    return int("failed" in study.counts)
