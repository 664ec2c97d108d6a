"""Measure the most memory that this process has held."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory_bytes() -> int:
    """Return the most bytes that this process has held.

    On Linux the number is exact. Elsewhere the number comes from `getrusage` and may be too large:
    it is never less than the memory that the parent process held when this process started.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
