"""Progress of a study on standard error: a bar in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import SegmentLines

from depthgauge.cli.status import in_words
from depthgauge.report.live_table import HEADER, live_rows, live_words
from depthgauge.report.table import terminal_table
from depthgauge.scheduling.live import LiveRule

LINE_EVERY = 60.0
TABLE_EVERY = 1.0

PATIENCE = 250
"""How many times as long as a table took none is made again: it must not slow the training."""

DRAWN_PER_SECOND = 2

SoFar = Callable[[], Sequence[LiveRule]]
"""What each rule has come to so far; asked only when it will be shown."""


class Lines:
    """For logs: one line a minute."""

    def __init__(self, total: int, doing: str, done: int, so_far: SoFar) -> None:
        self.total, self.done, self.before, self.began = total, done, done, time.monotonic()
        self._doing, self._so_far = doing, so_far
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
            left = in_words((now - self.began) * (self.total - self.done) / own)
            share = 100 * self.done / self.total
            said = f"{self._doing} {label}: {share:.1f} % done, {left} left"
            print(
                "; ".join(filter(None, (said, live_words(self._so_far())))),
                file=sys.stderr,
                flush=True,
            )


class Bar:
    """For terminals: a bar with the time left, and below it what each rule has come to."""

    def __init__(
        self, progress: BarAndTable, total: int, doing: str, done: int, so_far: SoFar
    ) -> None:
        self._progress, self._doing, self._so_far = progress, doing, so_far
        self._task = progress.add_task("starting", total=total, completed=done)
        self.show_table()
        self._next_table = time.monotonic() + TABLE_EVERY

    def advance(self, label: str, amount: int) -> None:
        """Move the bar and name what is being worked on."""
        self._progress.update(self._task, advance=amount, description=f"{self._doing} {label}")

    def at(self, label: str, done: int) -> None:
        """So much is done."""
        self._progress.update(self._task, completed=done, description=f"{self._doing} {label}")
        began = time.monotonic()
        if began >= self._next_table:
            self.show_table()
            now = time.monotonic()
            self._next_table = now + max(TABLE_EVERY, PATIENCE * (now - began))

    def show_table(self) -> None:
        """Bring the table up to date."""
        rules = self._so_far()
        if rules:
            self._progress.put_below(terminal_table(HEADER, live_rows(rules)))


class BarAndTable(Progress):
    """A bar with something below it, which is laid out once and not each time the bar is drawn."""

    _below: SegmentLines | None = None

    def put_below(self, what: RenderableType) -> None:
        """Show it from now on."""
        lines = self.console.render_lines(what, pad=False)
        self._below = SegmentLines(lines, new_lines=True)

    def get_renderables(self) -> Iterable[RenderableType]:
        """What is drawn."""
        yield from super().get_renderables()
        if self._below is not None:
            yield self._below


@contextmanager
def study_progress(
    total: int, doing: str, done: int = 0, so_far: SoFar = lambda: ()
) -> Iterator[Bar | Lines]:
    """Progress over `total` steps of what is being done: training, reading."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total, doing, done, so_far)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with BarAndTable(*columns, console=console, refresh_per_second=DRAWN_PER_SECOND) as progress:
        bar = Bar(progress, total, doing, done, so_far)
        try:
            yield bar
        finally:
            bar.show_table()
