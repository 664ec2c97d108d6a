"""Who holds a claim, and whether that process is still there."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

SAME_TIME = 2.0
"""By how much two readings of a process's start may differ."""


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
            other = abs(_started(self.pid) - self.started) > SAME_TIME
            return other or psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, ProcessLookupError, FileNotFoundError):
            return None if psutil.pid_exists(self.pid) else True
        except (psutil.AccessDenied, PermissionError):
            return None

    def __str__(self) -> str:
        return f"{self.host}, process {self.pid}"


def this_process() -> Owner:
    """The owner that this process is."""
    return owner_of(os.getpid())


def owner_of(pid: int) -> Owner:
    """The owner that a process on this machine is."""
    return Owner(host=platform.node(), place=_place(), pid=pid, started=_started(pid))


def _started(pid: int) -> float:
    """When a process started: in ticks since the system did, which no change of clocks moves.

    Where the system does not tell, in seconds by its clock.
    """
    stat = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self/stat").exists():
        return psutil.Process(pid).create_time()
    return float(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19])


@cache
def _place() -> str:
    """Host name, start of the system, and process namespace."""
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    known = boot.read_text().strip() if boot.exists() else f"{psutil.boot_time():.0f}"
    inside = os.readlink(namespace) if namespace.exists() else ""
    return f"{platform.node()} {known} {inside}".strip()
