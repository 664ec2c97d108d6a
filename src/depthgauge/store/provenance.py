"""The provenance of a result: software, machine, and cost in time and memory."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import torch

from depthgauge import __version__
from depthgauge.store.peak_memory import peak_memory_bytes

LIBRARIES = ("numpy", "pydantic", "safetensors", "scipy")
"""Libraries that results depend on, besides torch."""


THIS_FILE = Path(__file__)


@cache
def git_commit(file: Path = THIS_FILE) -> str | None:
    """Return the commit of a file's git checkout; None if git does not track the file.

    The commit ends in `-dirty` if the checkout has uncommitted changes.
    """
    here = file.resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None
    return _git(here.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    """Run git in the folder and return its output; None if git fails or is not installed."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@cache
def processor() -> str:
    """Return the name of the processor, as exactly as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


Provenance: TypeAlias = Mapping[str, Any]
"""The origin of a result as JSON: date, version, commit, machine, command, cost."""


def environment(file: Path = THIS_FILE) -> dict[str, object]:
    """Return date, software and machine; `dirty` means uncommitted changes in the git checkout."""
    commit = git_commit(file)
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": __version__,
        "commit": commit,
        "dirty": None if commit is None else commit.endswith("-dirty"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "libraries": {name: version(name) for name in LIBRARIES},
        "processor": processor(),
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "memory_bytes": psutil.virtual_memory().total,
        "system": platform.system(),
        "threads": torch.get_num_threads(),
    }


class Cost:
    """A measurement of this process's time and memory, which begins when the object is made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def measure(self) -> dict[str, float | None]:
        """Return the wall and processor seconds since the start, and the process's peak memory."""
        return {
            "wall_seconds": time.monotonic() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
            "peak_memory_bytes": peak_memory_bytes(),
        }


def command_line() -> str:
    """Return the command line, with `depthgauge` as the program's name."""
    return shlex.join(["depthgauge", *sys.argv[1:]])
