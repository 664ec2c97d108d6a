"""Progress on standard error: one updated line in a terminal, one line per minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from depthgauge.number_format import duration
from depthgauge.report.texts.live_status import live_status
from depthgauge.scheduling.live_status import LiveRule

LOG_EVERY = 60.0
"""Seconds between two lines in a log."""
LOG_FIRST = 10.0
"""Seconds until the first line in a log."""
MOVE_EVERY = 0.5
"""Seconds between two changes of a line that moves."""

PATIENCE = 250
"""Reading the status took t seconds: wait 250 t before the next time, so training stays fast."""

Clock = Callable[[], float]
Status = Callable[[], Sequence[LiveRule]]
"""Returns what each rule has reached. Called only when the line is about to be shown."""


class ProgressLine:
    """A line with the current step, the share done, the time left, and what each rule reached.

    The argument `show` is a function that shows a line. It is called after `first` seconds, and
    then at most once in `every` seconds.
    """

    def __init__(
        self,
        total: int,
        doing: str,
        done: int,
        status: Status,
        show: Callable[[str], None],
        *,
        clock: Clock,
        every: float,
        first: float = 0.0,
    ) -> None:
        self._total, self._doing, self._status, self._show = total, doing, status, show
        self._clock, self._every = clock, every
        self._label, self._before, self._done = "", done, done
        self._began = clock()
        self._next = self._began + first
        self._words, self._next_words = "", self._began

    def at(self, label: str, done: int) -> None:
        """Note the step `label` and the number of steps `done`; show the line if it is due."""
        self._label, self._done = label, done
        now = self._clock()
        if now >= self._next:
            self._next = now + self._every
            self.show()

    def show(self) -> None:
        """Show the line as it is now."""
        self._show("; ".join(filter(None, (self._how_far(), self._status_words()))))

    def end(self) -> None:
        """Show the line for the last time."""
        self._next_words = self._began
        self.show()

    def _how_far(self) -> str:
        seconds, own = self._clock() - self._began, self._done - self._before
        doing = f"{self._doing} {self._label}".rstrip()
        if self._done >= self._total:
            return f"{self._doing}: done in {duration(seconds)}"
        share = f"{doing}: {100 * self._done / self._total:.0f} %"
        if own <= 0:
            return share
        return f"{share}, {duration(seconds * (self._total - self._done) / own)} left"

    def _status_words(self) -> str:
        began = self._clock()
        if began >= self._next_words:
            self._words = live_status(self._status())
            now = self._clock()
            self._next_words = now + PATIENCE * (now - began)
        return self._words


@contextmanager
def show_progress(
    total: int, doing: str, done: int = 0, status: Status = list, clock: Clock = time.monotonic
) -> Iterator[ProgressLine]:
    """Show progress over `total` steps; `doing` names the work, such as training or reading."""
    console = Console(stderr=True)
    arguments = (total, doing, done, status)
    if not console.is_terminal and not console.is_jupyter:
        yield ProgressLine(*arguments, _log, clock=clock, every=LOG_EVERY, first=LOG_FIRST)
        return
    with _moving_line(console, doing) as move:
        line = ProgressLine(*arguments, move, clock=clock, every=MOVE_EVERY)
        line.show()
        try:
            yield line
        finally:
            line.end()


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _moving_line(console: Console, doing: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that replaces the line in a terminal or below a notebook's cell.

    A terminal cuts a line that is too long for it.
    """
    if console.is_jupyter:
        yield _notebook_line(doing)
        return
    with Live(console=console, auto_refresh=False) as live:
        yield lambda line: live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)


def _notebook_line(doing: str) -> Callable[[str], None]:
    """Return a function that replaces the line below a notebook's cell."""
    from IPython.display import display  # noqa: PLC0415

    show_first: Any = display
    shown = show_first({"text/plain": f"{doing} …"}, raw=True, display_id=True)
    return lambda line: shown.update({"text/plain": line}, raw=True)
