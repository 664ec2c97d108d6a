"""Who holds a claim: a process, told from every other, and whether it is still there."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from store.claiming import ended_owner

from depthgauge.store.owner import SAME_TIME, Owner, owner_of, start_of, this_place, this_process


def test_this_process_is_named_by_host_and_number():
    own = this_process()
    assert (own.host, own.pid) == (platform.node(), os.getpid())
    assert str(own) == f"{platform.node()}, process {os.getpid()}"


def test_this_process_is_there():
    assert this_process().is_gone() is False


def test_it_is_the_same_however_often_it_is_asked_and_survives_being_written_down():
    own = this_process()
    assert own == this_process()
    assert Owner.model_validate_json(own.model_dump_json()) == own


def test_a_process_that_has_ended_is_gone():
    assert ended_owner().is_gone() is True


def test_a_process_that_has_ended_is_gone_though_its_parent_has_not_noticed():
    """Where nobody collects its status, as in a container without init, that stays so for ever."""
    process = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    owner = owner_of(process.pid)
    try:
        assert owner.is_gone() is False
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert owner.is_gone() is True
    finally:
        process.communicate()


@pytest.mark.parametrize("seconds", [-3600.0, -2 * SAME_TIME, 2 * SAME_TIME, 3600.0])
def test_a_number_that_another_process_has_now_belongs_to_one_that_is_gone(seconds):
    own = this_process()
    assert own.model_copy(update={"started": own.started + seconds}).is_gone() is True


def test_the_start_may_be_read_a_little_differently():
    own = this_process()
    assert own.model_copy(update={"started": own.started + SAME_TIME / 2}).is_gone() is False


@pytest.mark.parametrize("pid", [os.getpid(), 2**22 + 1], ids=["here too", "not here"])
def test_of_a_process_elsewhere_nothing_is_known(pid):
    elsewhere = this_process().model_copy(update={"place": "another machine", "pid": pid})
    assert elsewhere.is_gone() is None


def proc_folder(folder: Path, boot: str) -> Path:
    """What Linux shows of its processes, to a user from whom those of others are hidden."""
    for file, text in (("sys/kernel/random/boot_id", f"{boot}\n"), ("self/stat", "")):
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text(text)
    (folder / "self/ns").mkdir()
    (folder / "self/ns/pid").symlink_to(folder)
    return folder


def test_a_machine_that_was_started_again_is_another_place(tmp_path):
    first, second = (proc_folder(tmp_path / boot, boot) for boot in ("first", "second"))
    assert this_place(first) == f"{platform.node()} first {first}"
    assert this_place(second) != this_place(first)
    own = this_process().model_copy(update={"place": this_place(first)})
    assert own.is_gone(second) is None


def test_without_proc_the_time_names_the_start_of_the_machine_and_of_the_process(tmp_path):
    assert this_place(tmp_path) == f"{platform.node()} {psutil.boot_time():.0f}"
    assert start_of(os.getpid(), tmp_path) == psutil.Process().create_time()


def test_of_a_process_that_may_not_be_looked_at_nothing_is_known(monkeypatch):
    def refuse(process: psutil.Process) -> str:
        raise psutil.AccessDenied(process.pid)

    own = this_process()
    monkeypatch.setattr(psutil.Process, "status", refuse)
    assert own.is_gone() is None


def ticks_are_told() -> bool:
    return Path("/proc/self/stat").exists()


@pytest.mark.skipif(not ticks_are_told(), reason="the start of a process goes by the clock here")
def test_a_clock_that_is_set_makes_nobody_gone():
    """Neither the start of the process nor that of the machine is taken from the clock."""
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    assert this_process().started == int(ticks)
    assert Path("/proc/sys/kernel/random/boot_id").read_text().strip() in this_process().place


@pytest.mark.parametrize(
    ("pid", "gone"), [(os.getpid(), None), (2**22 + 1, True)], ids=["exists", "has ended"]
)
def test_a_process_that_is_hidden_is_not_gone_as_long_as_it_exists(tmp_path, pid, gone):
    """On systems where /proc shows only a user's own processes."""
    proc = proc_folder(tmp_path / "proc", "boot")
    own = this_process().model_copy(update={"place": this_place(proc), "pid": pid})
    assert own.is_gone(proc) is gone


@pytest.mark.parametrize(("exists", "gone"), [(True, None), (False, True)])
def test_where_psutil_sees_no_process_it_counts_whether_there_is_one(monkeypatch, exists, gone):
    def miss(process: psutil.Process) -> str:
        raise psutil.NoSuchProcess(process.pid)

    own = this_process()
    monkeypatch.setattr(psutil.Process, "status", miss)
    monkeypatch.setattr(psutil, "pid_exists", lambda pid: exists)
    assert own.is_gone() is gone
