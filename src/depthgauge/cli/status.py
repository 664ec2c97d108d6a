"""`depthgauge status`: print how many runs are in each state, and which cohorts are in training."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.output import add_json_option, print_json
from depthgauge.number_format import duration

if TYPE_CHECKING:
    from depthgauge.scheduling.study_status import RunningCohort, StudyStatus

SILENCE = 30.0
"""If a process gives no sign of life for more seconds than this, its line says so."""


def add_status(parser: argparse.ArgumentParser) -> None:
    """Add the options of `status`."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Read the study's folder and print its status."""
    from depthgauge.json_values import plain_object
    from depthgauge.scheduling.study_status import status_of

    status = status_of(Path(args.study))
    if args.json:
        print_json(plain_object(status))
        return 0
    for line in _lines(status):
        print(line)
    return 0


def _lines(status: StudyStatus) -> list[str]:
    """Return the status as lines of text."""
    counts = status.runs
    by_state = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    lines = [f"{sum(counts.values())} runs: {by_state}"]
    lines += [_running_line(cohort) for cohort in status.running]
    lines += [
        f"failed   {run.label} k={run.rung} seed={run.seed}: {run.reason}  "
        f"({status.study}/runs/{run.run})"
        for run in status.failed
    ]
    if status.failed:
        lines.append(f"`depthgauge retry {status.study} --failed` trains the failed runs again")
    if status.seconds_left is not None:
        lines.append(f"about {duration(status.seconds_left)} left at the present speed")
    return lines


def _running_line(cohort: RunningCohort) -> str:
    left = f", {duration(cohort.seconds_left)} left" if cohort.seconds_left is not None else ""
    silent = ""
    if cohort.silent_for > SILENCE:
        silent = f", no sign of life for {duration(cohort.silent_for)}"
    return (
        f"running  {cohort.label} ({cohort.runs} runs) on {cohort.where}: epoch {cohort.epoch} of "
        f"{cohort.epochs}{left}{silent}"
    )
