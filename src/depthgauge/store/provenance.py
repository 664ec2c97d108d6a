"""Where a number comes from: software, machine, cost."""

from __future__ import annotations

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
    here = Path(__file__).resolve().parent
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],  # noqa: S607
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
        tracked = subprocess.run(
            ["git", "ls-files", "--error-unmatch", Path(__file__).name],  # noqa: S607
            cwd=here,
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip() if tracked.returncode == 0 else None


@cache
def processor() -> str:
    """The processor's name, as far as the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment(device: str) -> dict[str, Any]:
    """Software and machine."""
    return {
        "version": __version__,
        "commit": git_commit(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": device,
        "processor": processor(),
        "system": platform.system(),
        "threads": torch.get_num_threads(),
    }


def command_line() -> str:
    """The command as it was typed, without the path of the program."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def peak_memory_bytes() -> int:
    """The most memory this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
