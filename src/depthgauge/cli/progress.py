"""Progress of a study on standard error: a bar in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

LINE_EVERY = 60.0


class Lines:
    """For logs: one line a minute."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.began = total, 0, time.monotonic()
        self.spoken = self.began

    def advance(self, label: str, amount: int) -> None:
        """Count, and speak when it is time."""
        self.done += amount
        now = time.monotonic()
        if now - self.spoken >= LINE_EVERY and self.done:
            self.spoken = now
            left = (now - self.began) * (self.total - self.done) / self.done
            print(
                f"{label}: {100 * self.done / self.total:.1f} % done, {left / 60:.0f} min left",
                file=sys.stderr,
                flush=True,
            )


class Bar:
    """For terminals: a bar with the time left."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("starting", total=total)

    def advance(self, label: str, amount: int) -> None:
        """Move the bar and name the rule that is training."""
        self._progress.update(self._task, advance=amount, description=f"training {label}")


@contextmanager
def study_progress(total: int) -> Iterator[Bar | Lines]:
    """Progress over `total` run-steps."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield Bar(progress, total)
