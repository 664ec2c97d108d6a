"""Handle Ctrl-C, SIGTERM and SIGUSR1: the first signal saves and stops, a second stops at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ASKING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGUSR1") if hasattr(signal, name)
)
"""The signals of Ctrl-C, of a system that shuts down, and of a cluster that needs the node."""


class Interrupt:
    """A flag that a signal sets; `signal` is the signal's number, or None before any signal."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        """Return whether training should stop at the next step."""
        return self.signal is not None

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: the first signal sets the flag, the second raises KeyboardInterrupt."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number

    def listen(self) -> dict[int, Any]:
        """Install `hear` as handler, except for ignored signals; return the replaced handlers."""
        return {
            number: signal.signal(number, self.hear)
            for number in ASKING
            if signal.getsignal(number) is not signal.SIG_IGN
        }


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Handle signals inside the `with` block; afterwards the earlier handlers are back."""
    interrupt = Interrupt()
    before = interrupt.listen()
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
