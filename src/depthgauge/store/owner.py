"""The process that has claimed a cohort: which process it is, and whether it still runs."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict

PROC = Path("/proc")
"""The folder in which Linux describes its processes."""

SAME_TIME = 2.0
"""How far two readings of the start of the same process may differ, in the unit of `start_of`."""


class Owner(BaseModel):
    """A process, identified so that other machines can recognise it.

    `place` names the machine, its last boot, and the container. Process numbers can be compared
    only within the same place. `started` is the result of `start_of`.
    """

    model_config = ConfigDict(frozen=True)

    host: str
    place: str
    pid: int
    started: float

    def is_gone(self, proc: Path = PROC) -> bool | None:
        """Return whether the process has ended; None if this process cannot find out."""
        if self.place != this_place(proc):
            return None
        try:
            other = abs(start_of(self.pid, proc) - self.started) > SAME_TIME
            return other or psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, ProcessLookupError, FileNotFoundError):
            return None if psutil.pid_exists(self.pid) else True
        except (psutil.AccessDenied, PermissionError):
            return None

    def __str__(self) -> str:
        return f"{self.host}, process {self.pid}"


def this_process() -> Owner:
    """Return the `Owner` that describes this process."""
    return owner_of(os.getpid())


def owner_of(pid: int) -> Owner:
    """Return the `Owner` that describes a process on this machine."""
    return Owner(host=platform.node(), place=this_place(), pid=pid, started=start_of(pid))


def start_of(pid: int, proc: Path = PROC) -> float:
    """Return the time at which a process started.

    On Linux the unit is ticks since boot, so that setting the clock does not change the time.
    Elsewhere the unit is seconds of the system's clock.
    """
    stat = proc / f"{pid}/stat"
    if not (proc / "self/stat").exists():
        return psutil.Process(pid).create_time()
    return float(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19])


@cache
def this_place(proc: Path = PROC) -> str:
    """Return a text that says where this process runs: machine, last boot and container."""
    boot, namespace = proc / "sys/kernel/random/boot_id", proc / "self/ns/pid"
    known = boot.read_text().strip() if boot.exists() else f"{psutil.boot_time():.0f}"
    inside = os.readlink(namespace) if namespace.exists() else ""
    return f"{platform.node()} {known} {inside}".strip()
