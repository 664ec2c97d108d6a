"""Progress of a study on standard error: a bar in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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

from depthgauge.report.durations import in_words
from depthgauge.report.live_table import HEADER, live_rows, live_words
from depthgauge.report.table import terminal_table
from depthgauge.scheduling.live import LiveRule

LINE_EVERY = 60.0
TABLE_EVERY = 1.0

PATIENCE = 250
"""A table took t seconds: wait 250 t before the next, so that training is not slowed."""

DRAWN_PER_SECOND = 2

Live = Callable[[], Sequence[LiveRule]]
"""What each rule has come to so far; asked only when it will be shown."""


class Lines:
    """For logs: one line a minute."""

    def __init__(self, total: int, doing: str, done: int, live: Live) -> None:
        self.total, self.done, self.before, self.began = total, done, done, time.monotonic()
        self._doing, self._live = doing, live
        self.spoken = self.began

    def at(self, label: str, done: int) -> None:
        """So much is done; speak when it is time."""
        self.done = done
        now, own = time.monotonic(), done - self.before
        if now - self.spoken >= LINE_EVERY and own > 0:
            self.spoken = now
            left = in_words((now - self.began) * (self.total - self.done) / own)
            share = 100 * self.done / self.total
            what = f"{self._doing} {label}".rstrip()
            said = f"{what}: {share:.1f} % done, {left} left"
            print(
                "; ".join(filter(None, (said, live_words(self._live())))),
                file=sys.stderr,
                flush=True,
            )


class NotebookLine:
    """For notebooks: one line below the cell that moves, with the time left."""

    def __init__(self, total: int, doing: str, done: int, live: Live) -> None:
        from IPython.display import display  # noqa: PLC0415

        self._total, self._doing, self._before, self._live = total, doing, done, live
        self._began = self._shown = time.monotonic()
        show: Any = display
        self._display = show({"text/plain": f"{doing} …"}, raw=True, display_id=True)

    def at(self, label: str, done: int) -> None:
        """Show that so much is done."""
        now, own = time.monotonic(), done - self._before
        if now - self._shown < TABLE_EVERY and done < self._total:
            return
        self._shown = now
        share = 100 * done / self._total if self._total else 100.0
        left = in_words((now - self._began) * (self._total - done) / own) if own > 0 else "unknown"
        doing = f"{self._doing} {label}".rstrip()
        line = f"{doing}: {share:.0f} % done, {left} left"
        words = "; ".join(filter(None, (line, live_words(self._live()))))
        self._display.update({"text/plain": words}, raw=True)


class Bar:
    """For terminals: a bar with the time left, and below it what each rule has come to."""

    def __init__(
        self, progress: BarAndTable, total: int, doing: str, done: int, live: Live
    ) -> None:
        self._progress, self._doing, self._live = progress, doing, live
        self._task = progress.add_task("starting", total=total, completed=done)
        self.show_table()
        self._next_table = time.monotonic() + TABLE_EVERY

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
        rules = self._live()
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
def show_progress(
    total: int, doing: str, done: int = 0, live: Live = list
) -> Iterator[Bar | Lines | NotebookLine]:
    """Progress over `total` steps of what is being done: training, reading."""
    console = Console(stderr=True)
    if console.is_jupyter:
        yield NotebookLine(total, doing, done, live)
        return
    if not console.is_terminal:
        yield Lines(total, doing, done, live)
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
        bar = Bar(progress, total, doing, done, live)
        try:
            yield bar
        finally:
            bar.show_table()
