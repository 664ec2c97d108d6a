"""Find the cores, the memory and the device that a study may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path

import psutil
import torch

from depthgauge.errors import OptionError

CGROUPS = Path("/sys/fs/cgroup")
"""The folder with Linux's control groups, which limit the cores and memory of containers."""

OWN_GROUPS = Path("/proc/self/cgroup")
"""The file that names the control groups of this process."""


@dataclass(frozen=True)
class Resources:
    """The cores and the free bytes of memory that a study may use."""

    cores: int
    free_bytes: float


def find_resources(device: str = "cpu") -> Resources:
    """Return the cores of this machine, and the free memory of the device."""
    return Resources(available_cores(), free_memory(device))


def available_cores(cgroups: Path = CGROUPS, own: Path = OWN_GROUPS) -> int:
    """Return the number of cores that this process's affinity and its container's quota allow.

    OMP_NUM_THREADS is ignored, since cluster profiles set it to 1 on machines of many cores.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, int(min(cores, cpu_quota(cgroups, own))))


def free_memory(device: str = "cpu", cgroups: Path = CGROUPS, own: Path = OWN_GROUPS) -> float:
    """Return the free bytes of the GPU; for the CPU, what machine and container leave free."""
    if device.startswith("cuda"):
        return float(torch.cuda.mem_get_info(device)[0])
    return min(float(psutil.virtual_memory().available), memory_left(cgroups, own))


def cpu_quota(cgroups: Path, own: Path) -> float:
    """Return the cores that control groups allow this process; infinite without a limit."""
    quota = inf
    for group in _groups(own):
        of_two = _numbers(cgroups / group / "cpu.max")
        of_one = [
            number
            for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            for number in _numbers(cgroups / "cpu" / group / name)
        ]
        for numbers in (of_two, of_one):
            if len(numbers) == 2 and min(numbers) > 0:  # noqa: PLR2004
                quota = min(quota, numbers[0] / numbers[1])
    return quota


def memory_left(cgroups: Path, own: Path) -> float:
    """Return the bytes that control groups leave to this process; infinite without a limit."""
    left = inf
    for group in _groups(own):
        for folder, limit, used in (
            (cgroups / group, "memory.max", "memory.current"),
            (cgroups / "memory" / group, "memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            for most in _numbers(folder / limit):
                taken = sum(_numbers(folder / used)) - _file_cache(folder / "memory.stat")
                left = min(left, most - taken)
    return max(0.0, left)


def _groups(own: Path) -> Iterator[Path]:
    """Yield this process's control groups and their parent groups, of versions 1 and 2."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        if line.count(":") > 1:
            group = Path(line.split(":", 2)[2].lstrip("/"))
            yield from (group, *group.parents)


def _file_cache(stat: Path) -> float:
    """Return the bytes that a control group uses to cache files; Linux frees them when needed.

    Version 1 of control groups has entries `total_…`, which include the groups inside this group.
    """
    try:
        known = dict(line.split() for line in stat.read_text().splitlines())
        return sum(
            float(known.get(f"total_{kind}_file", known.get(f"{kind}_file", 0)))
            for kind in ("active", "inactive")
        )
    except (OSError, ValueError):
        return 0.0


def _numbers(path: Path) -> list[float]:
    """Return the numbers in a file; an empty list if it has the word `max`, or does not exist."""
    try:
        return [float(word) for word in path.read_text().split()]
    except (OSError, ValueError):
        return []


def choose_device(name: str, executor: str = "local") -> str:
    """Return the device; `auto` is a GPU if there is one, else the CPU.

    With a cluster, the GPU need not be in this machine, and the cluster chooses among its GPUs.
    """
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if executor != "local":
        if ":" in name:
            raise OptionError(
                "device", f"--executor {executor} chooses the GPU itself; use --device cuda"
            )
        return name
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise OptionError("device", f"--device {name} cannot be used here: {reason}") from error
    return name
