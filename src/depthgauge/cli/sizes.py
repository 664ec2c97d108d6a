"""How many runs are trained together, in how many processes: chosen, and said."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from depthgauge.cli.status import in_words

if TYPE_CHECKING:
    from depthgauge.config import RunConfig
    from depthgauge.store.study_folder import StudyFolder
    from depthgauge.studies.plan import Grid
    from depthgauge.studies.sizing import Sizing

GIGABYTE = 1e9


def choose_sizes(
    study: StudyFolder, grid: Grid, args: argparse.Namespace, device: str, threads: int | None
) -> Sizing:
    """For what is neither planned nor done; `threads` where they are fixed."""
    from depthgauge.studies.measured import Bench
    from depthgauge.studies.sizing import size_cohorts

    file, plan = study.read(), study.plan_files.read()
    runs = [
        run
        for run in grid.runs()
        if run.identity not in plan.cohort_of and not (file and study.is_done(run.identity))
    ]
    engine = file.engine if file else args.engine or "cohort"
    bench = Bench(grid.task, device, engine, SaidOnce())
    cluster = args.executor != "local"
    beside = len(plan.current)
    return size_cohorts(runs, bench, threads, args.cohort, cluster=cluster, beside=beside)


class SaidOnce:
    """Says on standard error, once for each rule, that its runs are tried."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, run: RunConfig) -> None:
        """Before it is tried."""
        if run.rule.name not in self._said:
            self._said.add(run.rule.name)
            what_for = f"trying {run.rule.name} for a moment, to see what its runs cost here"
            print(what_for, file=sys.stderr, flush=True)


def say_sizes(sizing: Sizing) -> None:
    """On standard error, where there was anything to choose."""
    if sizing.measured or sizing.workers > 1:
        print(in_one_line(sizing), file=sys.stderr, flush=True)


def in_one_line(sizing: Sizing) -> str:
    """What was chosen and, where it was measured, what to expect of it."""
    processes = _count(sizing.workers, "process", "processes")
    chosen = f"{_count(sizing.runs, 'run', 'runs')} together, {processes} of "
    chosen += _count(sizing.threads, "thread", "threads")
    if not sizing.measured:
        return f"{chosen} (--threads and --cohort change it)"
    expected = f"about {in_words(sizing.seconds)}, {sizing.memory / GIGABYTE:.1f} GB each"
    return f"{chosen}, {expected} (measured here; --threads and --cohort change it)"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
