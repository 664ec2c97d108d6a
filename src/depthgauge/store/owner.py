"""The process that holds a claim, and whether it still runs."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

SAME_TIME = 2.0
"""Seconds, or ticks, by which two readings of one process's start may differ."""


class Owner(BaseModel):
    """A process on a machine.

    `place` names the machine, its last start, and the container. Process numbers can be compared
    only within one place.
    """

    model_config = ConfigDict(frozen=True)

    host: str
    place: str
    pid: int
    started: float

    @property
    def is_gone(self) -> bool | None:
        """Whether the process has ended; None if that cannot be seen from this machine."""
        if self.place != _place():
            return None
        try:
            other = abs(_started(self.pid) - self.started) > SAME_TIME
            return other or psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, ProcessLookupError, FileNotFoundError):
            return None if psutil.pid_exists(self.pid) else True
        except (psutil.AccessDenied, PermissionError):
            return None

    def __str__(self) -> str:
        return f"{self.host}, process {self.pid}"


def this_process() -> Owner:
    """Return this process as an owner."""
    return owner_of(os.getpid())


def owner_of(pid: int) -> Owner:
    """Return a process on this machine as an owner."""
    return Owner(host=platform.node(), place=_place(), pid=pid, started=_started(pid))


def _started(pid: int) -> float:
    """Return when a process started.

    On Linux this is in ticks since the start of the system, which changes of the clock do not move.
    Elsewhere it is in seconds of the system's clock.
    """
    stat = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self/stat").exists():
        return psutil.Process(pid).create_time()
    return float(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19])


@cache
def _place() -> str:
    """Return the name of the machine, its last start, and the container's process namespace."""
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    known = boot.read_text().strip() if boot.exists() else f"{psutil.boot_time():.0f}"
    inside = os.readlink(namespace) if namespace.exists() else ""
    return f"{platform.node()} {known} {inside}".strip()
