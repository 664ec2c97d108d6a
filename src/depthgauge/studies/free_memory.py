"""Memory that a study may still take: of the machine, of the container it is in, or of a GPU."""

from __future__ import annotations

from pathlib import Path

import psutil
import torch

CGROUPS = Path("/sys/fs/cgroup")


def free_memory(device: str = "cpu") -> float:
    """In bytes."""
    if device.startswith("cuda"):
        return float(torch.cuda.mem_get_info(device)[0])
    return min(float(psutil.virtual_memory().available), _left_in_group(CGROUPS))


def _left_in_group(groups: Path) -> float:
    """What control groups leave to this process: infinite where there are none.

    Of the files that are found, those of version 2 and of version 1, each group and those above it.
    """
    left = float("inf")
    for own in _own_groups():
        for group in (own, *own.parents):
            for folder, limit, used in (
                (groups / group, "memory.max", "memory.current"),
                (groups / "memory" / group, "memory.limit_in_bytes", "memory.usage_in_bytes"),
            ):
                taken = _number(folder / used, otherwise=0.0) - _file_cache(folder / "memory.stat")
                left = min(left, _number(folder / limit) - taken)
    return max(0.0, left)


def _file_cache(stat: Path) -> float:
    """Bytes of files that a group has read, which the system takes back when memory is short.

    The first version counts those of the groups below apart, as `total_…`, the second has all in
    one.
    """
    try:
        known = dict(line.split() for line in stat.read_text().splitlines())
        return sum(
            float(known.get(f"total_{kind}_file", known.get(f"{kind}_file", 0)))
            for kind in ("active", "inactive")
        )
    except (OSError, ValueError):
        return 0.0


def _own_groups(listing: Path = Path("/proc/self/cgroup")) -> list[Path]:
    """The groups that this process is in, as paths below the place where groups are."""
    try:
        lines = listing.read_text().splitlines()
    except OSError:
        return []
    return [Path(line.split(":", 2)[2].lstrip("/")) for line in lines if line.count(":") > 1]


def _number(path: Path, otherwise: float = float("inf")) -> float:
    """What stands in a file, if it is a number."""
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        return otherwise
