"""How far a long measurement is, and how long it will still take, on stderr."""

from __future__ import annotations

import sys
import time


class Progress:
    """`expected` is how many seconds everything is thought to take; measured as it goes on."""

    def __init__(self, expected: float) -> None:
        self._expected, self._done, self._began = expected, 0.0, time.monotonic()
        print(f"about {in_words(expected)}", file=sys.stderr)

    def advance(self, what: str, seconds: float) -> None:
        """Something is done that was thought to take so many seconds."""
        self._done += seconds
        pace = (time.monotonic() - self._began) / self._done
        left = in_words(max(0.0, self._expected - self._done) * pace)
        print(f"{what}; {left} left", file=sys.stderr)


def in_words(seconds: float) -> str:
    """In minutes, or in hours and minutes."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
