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

    def __init__(self, total: int, doing: str, done: int) -> None:
        self.total, self.done, self.before, self.began = total, done, done, time.monotonic()
        self._doing = doing
        self.spoken = self.began

    def advance(self, label: str, amount: int) -> None:
        """Count, and speak when it is time."""
        self.at(label, self.done + amount)

    def at(self, label: str, done: int) -> None:
        """So much is done; speak when it is time."""
        self.done = done
        now, own = time.monotonic(), done - self.before
        if now - self.spoken >= LINE_EVERY and own > 0:
            self.spoken = now
            left = (now - self.began) * (self.total - self.done) / own
            share = 100 * self.done / self.total
            print(
                f"{self._doing} {label}: {share:.1f} % done, {left / 60:.0f} min left",
                file=sys.stderr,
                flush=True,
            )


class Bar:
    """For terminals: a bar with the time left."""

    def __init__(self, progress: Progress, total: int, doing: str, done: int) -> None:
        self._progress, self._doing = progress, doing
        self._task = progress.add_task("starting", total=total, completed=done)

    def advance(self, label: str, amount: int) -> None:
        """Move the bar and name what is being worked on."""
        self._progress.update(self._task, advance=amount, description=f"{self._doing} {label}")

    def at(self, label: str, done: int) -> None:
        """So much is done."""
        self._progress.update(self._task, completed=done, description=f"{self._doing} {label}")


@contextmanager
def study_progress(total: int, doing: str, done: int = 0) -> Iterator[Bar | Lines]:
    """Progress over `total` steps of what is being done: training, reading."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total, doing, done)
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
        yield Bar(progress, total, doing, done)
