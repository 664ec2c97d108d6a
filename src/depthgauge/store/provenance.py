"""Where a number comes from: software, machine, cost."""

from __future__ import annotations

import os
import platform
import resource
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch

from depthgauge import __version__


@cache
def git_commit() -> str | None:
    """The commit of the checkout this package runs from, `-dirty` if changed; None if installed."""
    here = Path(__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None
    return _git(here.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, or None where it fails or is not installed."""
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
    """The processor's name, as far as the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment() -> dict[str, Any]:
    """Software and machine."""
    return {
        "version": __version__,
        "commit": git_commit(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "threads": torch.get_num_threads(),
    }


def command_line() -> str:
    """The command as it was typed, whatever way the program was started."""
    return shlex.join(["depthgauge", *sys.argv[1:]])


def peak_memory_bytes() -> int:
    """The most memory this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
