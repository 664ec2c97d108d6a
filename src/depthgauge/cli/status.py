"""`depthgauge status`: how many runs of a study are in which state."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.report.durations import in_words

if TYPE_CHECKING:
    from depthgauge.scheduling.status import Running, StudyStatus

SILENT = 30.0
"""Seconds without a sign of life that are worth a remark."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `status`."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Read the folder and say what is in it."""
    from depthgauge.scheduling.status import status_of

    status = status_of(Path(args.study))
    if args.json:
        print(json.dumps(asdict(status), indent=2, ensure_ascii=False))
        return 0
    for line in status_lines(status):
        print(line)
    return 0


def status_lines(status: StudyStatus) -> list[str]:
    """The status as lines of text."""
    counts = status.runs
    lines = [
        f"{sum(counts.values())} runs: "
        + ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    ]
    lines += [_running_line(one) for one in status.running]
    lines += [
        f"failed   {one.label} k={one.rung} seed={one.seed}: {one.reason}  "
        f"({status.study}/runs/{one.run})"
        for one in status.failed
    ]
    if status.failed:
        lines.append(f"depthgauge retry {status.study} --failed tries them again")
    if status.seconds_left is not None:
        lines.append(f"about {in_words(status.seconds_left)} left at the present speed")
    return lines


def _running_line(one: Running) -> str:
    left = f", {in_words(one.seconds_left)} left" if one.seconds_left is not None else ""
    silent = ""
    if one.silent_for > SILENT:
        silent = f", no sign of life for {in_words(one.silent_for)}"
    return (
        f"running  {one.label} ({one.runs} runs) on {one.where}: epoch {one.epoch} of "
        f"{one.epochs}{left}{silent}"
    )
