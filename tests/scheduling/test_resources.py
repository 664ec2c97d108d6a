"""Cores and memory that are free: of the machine, or of the control group, whichever is less."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from depthgauge.scheduling.resources import available_cores, cpu_quota, free_memory, memory_left

MISSING = Path("nowhere")


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """This process is in the group a/b, as version 2 has it, and in c as version 1 has it."""
    (tmp_path / "own").write_text("4:memory:/c\n1:name=systemd:/\n0::/a/b\n")
    return tmp_path


def left_in(groups: Path) -> float:
    return memory_left(groups, groups / "own")


def write(folder: Path, limit: object, used: object, *, first: bool = False) -> None:
    names = ("limit_in_bytes", "usage_in_bytes") if first else ("max", "current")
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in zip(names, (limit, used), strict=True):
        (folder / f"memory.{name}").write_text(f"{number}\n")


def test_without_groups_nothing_is_limited(groups):
    assert left_in(groups) == float("inf")
    assert memory_left(groups, MISSING) == float("inf")


def test_of_its_group_and_those_above_the_tightest_counts(groups):
    write(groups / "a" / "b", "max", 10)
    assert left_in(groups) == float("inf")
    write(groups / "a", 1000, 300)
    assert left_in(groups) == 700
    write(groups / "a" / "b", 500, 450)
    assert left_in(groups) == 50
    write(groups / "a" / "b", 500, 600)
    assert left_in(groups) == 0


def test_groups_of_the_first_version(groups):
    write(groups / "memory" / "c", 1000, 200, first=True)
    assert left_in(groups) == 800


@pytest.mark.parametrize(
    ("place", "stat", "first"),
    [
        ("a", "anon 40\nactive_file 100\ninactive_file 150\n", False),
        ("memory/c", "active_file 1\ntotal_active_file 100\ntotal_inactive_file 150\n", True),
    ],
)
def test_files_that_were_read_take_no_memory_from_anybody(groups, place, stat, first):
    write(groups / place, 1000, 900, first=first)
    (groups / place / "memory.stat").write_text(stat)
    assert left_in(groups) == 350
    (groups / place / "memory.stat").write_text("no such thing as this\n")
    assert left_in(groups) == 100


def test_the_machine_or_the_group_whichever_has_less(groups):
    write(groups / "a", 1000, 300)
    assert free_memory("cpu", groups, groups / "own") == 700
    write(groups / "a", 2**60, 300)
    free = free_memory("cpu", groups, groups / "own")
    assert free == pytest.approx(psutil.virtual_memory().available, rel=0.5)


# Cores


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def test_without_a_quota_every_core_may_be_used(groups):
    put(groups / "a" / "b" / "cpu.max", "max 100000")
    put(groups / "cpu" / "c" / "cpu.cfs_quota_us", "-1")
    put(groups / "cpu" / "c" / "cpu.cfs_period_us", "100000")
    assert cpu_quota(groups, groups / "own") == float("inf")
    assert cpu_quota(groups, MISSING) == float("inf")


def test_the_tightest_quota_of_either_version_counts(groups):
    put(groups / "a" / "cpu.max", "350000 100000")
    assert cpu_quota(groups, groups / "own") == 3.5
    put(groups / "cpu" / "c" / "cpu.cfs_quota_us", "150000")
    put(groups / "cpu" / "c" / "cpu.cfs_period_us", "100000")
    assert cpu_quota(groups, groups / "own") == 1.5


@pytest.mark.parametrize(("quota", "cores"), [("50000 100000", 1), ("999900000 100000", None)])
def test_a_quota_below_one_core_is_one_and_above_the_cores_none(groups, quota, cores):
    put(groups / "a" / "cpu.max", quota)
    allowed = available_cores(groups, groups / "own")
    assert allowed == (cores or len(os.sched_getaffinity(0)))


@pytest.mark.slow
def test_cores_are_those_of_the_process_whatever_openmp_is_told():
    script = "from depthgauge.scheduling.resources import available_cores as n; print(n())"
    here = available_cores()
    for threads in ("1", "64"):
        environment = os.environ | {"OMP_NUM_THREADS": threads}
        told = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, check=True
        )
        assert int(told.stdout) == here
    one = min(os.sched_getaffinity(0))
    pinned = f"import os; os.sched_setaffinity(0, {{{one}}}); {script}"
    told = subprocess.run([sys.executable, "-c", pinned], capture_output=True, check=True)
    assert int(told.stdout) == 1
