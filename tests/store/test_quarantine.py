"""What is bad is put aside beside its reason, never deleted."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from store.small_runs_on_disk import contents

from depthgauge.store.quarantine import put_aside

BYTES = b"\xff\x00 not text \r\n at all \n\x80"


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(BYTES)
    return path


def names(folder: Path) -> list[str]:
    return list(contents(folder))


def test_a_file_is_moved_with_every_byte_and_its_reason(bad):
    target = put_aside(bad, "is cut short")
    assert target == bad.parent / "quarantine" / "1-checkpoint.safetensors"
    assert target.read_bytes() == BYTES
    reason = target.with_name("1-checkpoint.safetensors.reason.txt")
    assert reason.read_text() == "checkpoint.safetensors is cut short\n"
    assert len(names(bad.parent)) == 2


def test_a_file_that_stays_is_copied_with_every_byte(bad):
    target = put_aside(bad, "has damaged lines", keep=True)
    assert bad.read_bytes() == BYTES
    assert target.read_bytes() == BYTES


def test_what_was_put_aside_before_stays(bad):
    put_aside(bad, "is the first")
    bad.write_bytes(b"more")
    target = put_aside(bad, "is the second")
    assert target.name == "2-checkpoint.safetensors"
    assert target.read_bytes() == b"more"
    folder = target.parent
    assert (folder / "1-checkpoint.safetensors").read_bytes() == BYTES
    reasons = [(folder / f"{n}-{bad.name}.reason.txt").read_text() for n in (1, 2)]
    assert reasons == [f"{bad.name} is the first\n", f"{bad.name} is the second\n"]


def test_files_of_other_names_are_counted_on_their_own(bad):
    put_aside(bad, "is cut short")
    (bad.parent / "result.json").write_text("{")
    assert put_aside(bad.parent / "result.json", "is cut short").name == "1-result.json"


def test_one_line_says_what_why_and_where(bad, caplog):
    with caplog.at_level(logging.WARNING, logger="depthgauge"):
        target = put_aside(bad, "is cut short")
    (record,) = caplog.records
    message = record.getMessage()
    assert message == f"{bad} is cut short; the file is now {target}"


def test_quietly_nothing_is_said(bad, caplog):
    target = put_aside(bad, "was asked for", quietly=True)
    assert not caplog.records
    assert target.read_bytes() == BYTES


def test_no_file_is_put_aside_before_its_reason_is_there(bad, monkeypatch):
    """Killed between the two, the file is where it was, and is put aside the next time."""
    replace = os.replace

    def fail_to_move(source: Path, target: Path) -> None:
        if Path(source) == bad:
            raise OSError("killed")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_to_move)
        with pytest.raises(OSError, match="killed"):
            put_aside(bad, "is cut short")
    assert bad.read_bytes() == BYTES
    assert names(bad.parent)[1:] == ["quarantine/1-checkpoint.safetensors.reason.txt"]
    target = put_aside(bad, "is cut short indeed")
    assert target.read_bytes() == BYTES
    assert target.with_name(f"{target.name}.reason.txt").read_text().endswith("indeed\n")
    assert len(names(bad.parent)) == 2


# At once


@pytest.mark.parametrize("keep", [False, True])
def test_a_file_that_another_process_has_just_put_aside_is_no_error(bad, keep):
    aside = put_aside(bad, "is cut short")
    put_aside(bad, "is cut short", keep=keep)
    assert not bad.exists()
    assert aside.read_bytes() == BYTES
    assert [path.name for path in aside.parent.glob(f"*{bad.suffix}")] == [aside.name]


def test_many_that_put_the_same_file_aside_keep_it_once(tmp_path):
    writers, rounds = 4, 25
    with ThreadPoolExecutor(writers) as pool:
        for number in range(rounds):
            path = tmp_path / f"{number}.json"
            path.write_bytes(BYTES)
            list(pool.map(lambda path: put_aside(path, "is bad"), [path] * writers))
            assert not path.exists()
            (aside,) = (tmp_path / "quarantine").glob(f"*-{path.name}")
            assert aside.read_bytes() == BYTES
