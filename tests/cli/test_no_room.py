"""Full disks and folders that cannot be written: one sentence, and nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.commands import Done, assert_bad_input, run
from cli.stopped_studies import STOPPED_AT, command, resumed_from
from scheduling.small_grids import outcome
from store.small_runs_on_disk import contents
from store.system_limits import files_of_at_most

from depthgauge.store.study_folder import StudyFolder

SMALL_FILES = 2_000
"""Bytes: room for everything but a checkpoint."""


def assert_says_no_room(done: Done) -> None:
    assert_bad_input(done, "there is no room left", "run the same command again")


def test_without_room_for_checkpoints_nothing_has_failed_and_the_study_goes_on(
    stopping_rules, tmp_path, undisturbed
):
    folder = tmp_path / "study"
    with files_of_at_most(SMALL_FILES):
        assert_says_no_room(run(*command(stopping_rules, folder)))
    assert list(folder.glob("runs/*/failed.json")) == []
    assert list(folder.rglob("*.tmp")) == []
    assert run("status", folder).out == "2 runs: 2 stopped\n"
    done = run(*command(stopping_rules, folder))
    assert (done.status, done.err) == (0, "")
    assert outcome(folder) == outcome(undisturbed)


def test_what_was_saved_before_the_disk_was_full_is_used(stopping_rules, stopped, undisturbed):
    before = {path: path.read_bytes() for path in stopped.glob("runs/*/checkpoint*")}
    with files_of_at_most(SMALL_FILES):
        assert_says_no_room(run(*command(stopping_rules, stopped)))
    assert {path: path.read_bytes() for path in before} == before
    assert run(*command(stopping_rules, stopped)).status == 0
    assert outcome(stopped) == outcome(undisturbed)
    assert resumed_from(stopped) == [list(STOPPED_AT)] * 2


def assert_nobody_claims(folder: Path) -> None:
    """Else the next command, in a process that lives on, would wait for ever."""
    study = StudyFolder(folder)
    names = study.plan_files.read().cohorts
    assert [study.claims.holder(name) for name in names] == [None] * len(names)


def mount(*arguments: object) -> bool:
    try:
        done = subprocess.run(
            ["mount", *map(str, arguments)], capture_output=True, check=False, timeout=20
        )
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, with room for a hundred kilobytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=100k", "tmpfs", place):
        pytest.skip("file systems cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True, timeout=20)


def test_on_a_full_disk_the_study_waits_for_room(stopping_rules, disk, undisturbed):
    folder = disk / "study"
    fill = disk / "fill"
    fill.write_bytes(bytes(60_000))
    assert_says_no_room(run(*command(stopping_rules, folder)))
    assert list(folder.glob("runs/*/failed.json")) == []
    fill.unlink()
    assert_nobody_claims(folder)
    assert mount("-o", "remount,size=1m", disk)
    done = run(*command(stopping_rules, folder))
    assert done.status == 0, done.err
    assert "the page of the study was not written: there is no room left" in done.err
    assert outcome(folder) == outcome(undisturbed)


def test_in_a_folder_that_cannot_be_written_nothing_is_lost(
    stopping_rules, stopped, disk, tmp_path, undisturbed
):
    assert mount("-o", "remount,size=2m", disk)
    folder = shutil.copytree(stopped, disk / "study")
    before = contents(folder)
    assert mount("-o", "remount,ro", disk)
    assert_bad_input(run(*command(stopping_rules, folder)), "Read-only file system", str(folder))
    assert_bad_input(
        run(*command(stopping_rules, disk / "new")), "Read-only file system", str(disk / "new")
    )
    assert contents(folder) == before
    assert_nobody_claims(folder)
    assert run("status", folder).status == 0
    assert run("show", next((folder / "runs").iterdir())).status == 0
    assert run("export", folder, "-o", tmp_path / "table.csv").status == 0
    assert mount("-o", "remount,rw", disk)
    assert run(*command(stopping_rules, folder)).status == 0
    assert outcome(folder) == outcome(undisturbed)
