"""Memory that is free: of the machine, or of the control group, whichever is less."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from depthgauge.scheduling.resources import _left_in_group, _own_groups, free_memory
from depthgauge.studies import free_memory as module


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process is in the group a/b, as version 2 has it, and in c as version 1 has it."""
    listing = tmp_path / "cgroup"
    listing.write_text("4:memory:/c\n1:name=systemd:/\n0::/a/b\n")
    own = _own_groups(listing)
    monkeypatch.setattr(module, "_own_groups", lambda: own)
    return tmp_path


def write(folder: Path, limit: object, used: object, *, first: bool = False) -> None:
    names = ("limit_in_bytes", "usage_in_bytes") if first else ("max", "current")
    folder.mkdir(parents=True, exist_ok=True)
    for name, number in zip(names, (limit, used), strict=True):
        (folder / f"memory.{name}").write_text(f"{number}\n")


def test_without_groups_nothing_is_limited(groups):
    assert _left_in_group(groups) == float("inf")
    assert _own_groups(groups / "nowhere") == []


def test_of_its_group_and_those_above_the_tightest_counts(groups):
    write(groups / "a" / "b", "max", 10)
    assert _left_in_group(groups) == float("inf")
    write(groups / "a", 1000, 300)
    assert _left_in_group(groups) == 700
    write(groups / "a" / "b", 500, 450)
    assert _left_in_group(groups) == 50
    write(groups / "a" / "b", 500, 600)
    assert _left_in_group(groups) == 0


def test_groups_of_the_first_version(groups):
    write(groups / "memory" / "c", 1000, 200, first=True)
    assert _left_in_group(groups) == 800


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
    assert _left_in_group(groups) == 350
    (groups / place / "memory.stat").write_text("no such thing as this\n")
    assert _left_in_group(groups) == 100


def test_the_machine_or_the_group_whichever_has_less(groups, monkeypatch):
    monkeypatch.setattr(module, "CGROUPS", groups)
    write(groups / "a", 1000, 300)
    for available, expected in ((10_000, 700), (600, 600)):
        free = SimpleNamespace(available=available)
        monkeypatch.setattr(psutil, "virtual_memory", lambda free=free: free)
        assert free_memory() == expected
