"""`depthgauge resume`: train what is left of a study, from its folder alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.study_output import say_problems, write_page
from depthgauge.study_config import StudyConfig

if TYPE_CHECKING:
    from depthgauge.results.study import StudyResult

USED = {"device", "executor", "address", "save_every"}
"""The options of a study that may differ when its training goes on."""

EXECUTOR = {
    "choices": ("local", "ray"),
    "help": "where cohorts are trained: on this machine or on a Ray cluster (local); for Slurm, "
    "give the command that planned the study again",
}
"""The option for where training goes on: Slurm is left to the command that planned the study."""

DESCRIPTION = (
    "Train what was planned in DIR and is not done; rules from files must be where they were. A "
    "folder with study.json and plan/ alone is the whole study over again."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `resume`."""
    add_common_options(parser)
    parser.add_argument(
        "--cohorts",
        nargs="+",
        default=(),
        metavar="NAME",
        help="these cohorts of the plan alone: one task of an array",
    )


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the study's folder, and where its training goes on."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    without = StudyConfig.model_fields.keys() - USED
    add_study_options(parser, without=without, instead={"executor": EXECUTOR})


def run(args: argparse.Namespace) -> int:
    """Train the plan's cohorts, or those that were asked for."""
    from depthgauge.api import resume

    return show_counts(resume(args.study, config_of(args), cohorts=args.cohorts))


def show_counts(study: StudyResult) -> int:
    """Say how many runs are finished; where none is left, write the page."""
    say_problems(study)
    finished = sum(run.is_done for run in study.runs)
    print(f"{finished} of {len(study.runs)} runs in {study.folder} are finished", flush=True)
    page = write_page(study) if study.is_complete else None
    if page is not None:
        print(page)
    return int("failed" in study.counts)
