"""Progress and time left of a long measurement, on stderr."""

from __future__ import annotations

import sys
import time


class Progress:
    """Prints the time left, from estimated times and the pace so far.

    `expected` is the estimate for everything, in seconds.
    """

    def __init__(self, expected: float) -> None:
        self._expected, self._done, self._began = expected, 0.0, time.monotonic()
        print(f"about {write_duration(expected)}", file=sys.stderr)

    def advance(self, what: str, seconds: float) -> None:
        """Report that a part is done whose estimate was so many seconds."""
        self._done += seconds
        pace = (time.monotonic() - self._began) / self._done
        left = write_duration(max(0.0, self._expected - self._done) * pace)
        print(f"{what}; {left} left", file=sys.stderr)


def write_duration(seconds: float) -> str:
    """Write seconds as minutes, or as hours and minutes."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
