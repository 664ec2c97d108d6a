"""Who holds a claim, and whether that process is still there."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

SAME_TIME = 2.0
"""Seconds by which two readings of a process's start may differ."""


class Owner(BaseModel):
    """A process on a machine.

    `place` names the machine since its last start, and the container: process numbers mean
    something inside one place alone.
    """

    model_config = ConfigDict(frozen=True)

    host: str
    place: str
    pid: int
    started: float

    @property
    def is_gone(self) -> bool | None:
        """Whether the process has ended; None where that cannot be seen from here."""
        if self.place != _place():
            return None
        try:
            process = psutil.Process(self.pid)
            other = abs(process.create_time() - self.started) > SAME_TIME
            return other or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return None

    def __str__(self) -> str:
        return f"{self.host}, process {self.pid}"


def this_process() -> Owner:
    """The owner that this process is."""
    started = psutil.Process().create_time()
    return Owner(host=platform.node(), place=_place(), pid=os.getpid(), started=started)


@cache
def _place() -> str:
    """Host name, start of the system, and process namespace."""
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    known = boot.read_text().strip() if boot.exists() else f"{psutil.boot_time():.0f}"
    inside = os.readlink(namespace) if namespace.exists() else ""
    return f"{platform.node()} {known} {inside}".strip()
