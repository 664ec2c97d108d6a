"""Ctrl-C, SIGTERM and SIGUSR1: once to stop at the next step and save, twice to stop now."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ASKING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGUSR1") if hasattr(signal, name)
)
"""What a user's Ctrl-C, a system that shuts down, and a cluster that wants its node back send."""


class Interrupt:
    """Whether somebody asked to stop, and by which signal."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        """Whether to stop at the next step."""
        return self.signal is not None

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The handler: the first signal asks, the second one raises KeyboardInterrupt."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number

    def listen(self) -> dict[int, Any]:
        """Hear signals from now on; those that are ignored stay ignored. What was there before."""
        return {
            number: signal.signal(number, self.hear)
            for number in ASKING
            if signal.getsignal(number) is not signal.SIG_IGN
        }


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Hear signals inside the block."""
    interrupt = Interrupt()
    before = interrupt.listen()
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
