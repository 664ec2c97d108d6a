"""Files that are either whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from store.system_limits import files_of_at_most

from depthgauge.errors import UserError
from depthgauge.store.files import (
    make_folder,
    read_json,
    write_atomically,
    write_json,
    write_text,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.json"
    path.write_text('"old"')
    return path


def assert_untouched(path: Path) -> None:
    assert path.read_text() == '"old"'
    assert os.listdir(path.parent) == [path.name]


def test_what_is_written_is_read(path):
    document = {"a": [1, 2.5, None, True], "ü": {"nested": "‖h‖"}}
    write_json(path, document)
    assert read_json(path) == document
    assert os.listdir(path.parent) == [path.name]


def test_a_writer_that_fails_half_way_leaves_the_old_file(path):
    def write(temporary: Path) -> None:
        temporary.write_text("half of the n")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_atomically(path, write)
    assert_untouched(path)


def test_a_writer_that_fails_before_it_writes_leaves_the_old_file(path):
    def write(_: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, write)
    assert_untouched(path)


def test_a_full_disk_leaves_the_old_file(path):
    with pytest.raises(OSError, match="File too large"), files_of_at_most(10):
        write_text(path, "new and much longer")
    assert_untouched(path)


def test_a_refused_rename_leaves_the_old_file(tmp_path):
    folder = tmp_path / "in the way"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        write_text(folder, "new")
    assert os.listdir(tmp_path) == [folder.name]


def test_the_old_file_is_in_place_while_the_new_one_is_written(path):
    def write(temporary: Path) -> None:
        assert temporary.parent == path.parent  # another disk could not be renamed from
        temporary.write_text("new")
        assert path.read_text() == '"old"'

    write_atomically(path, write)
    assert path.read_text() == "new"


def test_the_bytes_are_on_the_disk_before_the_name_is_and_then_the_name(path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append(inode(handle)), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("replace"), replace(a, b)))
    write_text(path, "new")
    assert calls == [inode(path), "replace", inode(path.parent)]


def inode(file: Path | int) -> int:
    return os.stat(file).st_ino


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_not_written(path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": value})
    assert_untouched(path)


@pytest.mark.parametrize("damage", [b"", b'{"a": 1', b"\xff\xfe", b"\0" * 40])
def test_a_corrupt_document_is_named_and_left_alone(path, damage):
    path.write_bytes(damage)
    with pytest.raises(UserError) as caught:
        read_json(path)
    assert str(path) in str(caught.value)
    assert "nothing was changed" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == damage


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_what_is_not_a_file_cannot_be_read(path, name):
    with pytest.raises(UserError, match="cannot be read"):
        read_json(path.parent / name)


def test_a_folder_is_made_with_those_above_it_and_may_be_there(tmp_path):
    for _ in range(2):
        assert make_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()


def test_what_is_in_the_way_of_a_folder_is_said(path):
    with pytest.raises(UserError, match="cannot create the folder") as caught:
        make_folder(path / "below a file")
    assert str(path) in str(caught.value)
    assert_untouched(path)
