"""Files that one writer alone can make."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import pytest
from store.system_limits import files_of_at_most

import depthgauge
from depthgauge.store.files import create_exclusively

LENGTH = 50_000
"""Characters of what each writer writes: enough not to be written at one go."""

RACING = """
import sys
from pathlib import Path
from depthgauge.store.files import create_exclusively
folder, writer, length, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
for number in range(rounds):
    if create_exclusively(folder / str(number), writer * length):
        print(number, flush=True)
"""


class Killed(BaseException):
    """Stands for a kill: nothing that follows is executed."""


def test_a_new_file_is_made_whole(tmp_path):
    assert create_exclusively(tmp_path / "file", "‖h‖\n")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "‖h‖\n"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_somebody_has_made_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("theirs")
    assert not create_exclusively(tmp_path / "file", "ours")
    assert (tmp_path / "file").read_text() == "theirs"
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="File too large"), files_of_at_most(2):
        create_exclusively(tmp_path / "file", "ours")
    assert os.listdir(tmp_path) == []


def test_the_bytes_are_on_the_disk_before_the_name_is_and_then_the_name(tmp_path, monkeypatch):
    calls = []
    fsync, link = os.fsync, os.link
    monkeypatch.setattr(os, "fsync", lambda h: (calls.append(os.fstat(h).st_ino), fsync(h)))
    monkeypatch.setattr(os, "link", lambda a, b: (calls.append("link"), link(a, b)))
    assert create_exclusively(tmp_path / "file", "ours")
    assert calls == [(tmp_path / "file").stat().st_ino, "link", tmp_path.stat().st_ino]


def test_what_a_kill_left_behind_does_not_spoil_the_file_for_the_next_writer(tmp_path, monkeypatch):
    """The next writer may have the process number of the one that was killed."""
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(Killed):
            create_exclusively(tmp_path / "file", "the first")
    assert (tmp_path / "file").read_text() == "the first"
    assert not create_exclusively(tmp_path / "file", "the second")
    assert (tmp_path / "file").read_text() == "the first"


def killed(*_: object, **__: object) -> None:
    raise Killed


def test_who_made_the_link_has_won_though_the_answer_was_lost(tmp_path, monkeypatch):
    """NFS asks again where no answer came, and then finds the link that it has made itself."""
    link = os.link

    def link_and_ask_again(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)

    monkeypatch.setattr(os, "link", link_and_ask_again)
    assert create_exclusively(tmp_path / "file", "ours")
    assert (tmp_path / "file").read_text() == "ours"


def test_of_many_threads_one_wins_and_the_file_is_whole(tmp_path):
    writers, rounds = "abcdefgh", 25
    won: list[tuple[int, str]] = []
    with ThreadPoolExecutor(len(writers)) as pool:
        for number in range(rounds):
            paths, texts = repeat(tmp_path / str(number)), [w * LENGTH for w in writers]
            made = list(pool.map(create_exclusively, paths, texts))
            won += [(number, writer) for writer, own in zip(writers, made, strict=True) if own]
    assert_each_was_won_once(tmp_path, won, rounds)


def test_of_many_processes_one_wins_and_the_file_is_whole(tmp_path):
    writers, rounds = "abcd", 40
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", RACING, str(tmp_path), writer, str(LENGTH), str(rounds)],
            env=os.environ | {"PYTHONPATH": str(Path(depthgauge.__file__).parent.parent)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for writer in writers
    ]
    for process in racing:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in racing:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=60)[0] for process in racing]
    assert [process.returncode for process in racing] == [0] * len(writers)
    won = [
        (int(number), writer)
        for writer, numbers in zip(writers, printed, strict=True)
        for number in numbers.split()
    ]
    assert_each_was_won_once(tmp_path, won, rounds)


def assert_each_was_won_once(folder: Path, won: list[tuple[int, str]], rounds: int) -> None:
    assert sorted(number for number, _ in won) == list(range(rounds))
    for number, writer in won:
        assert (folder / str(number)).read_text() == writer * LENGTH
    assert sorted(os.listdir(folder), key=int) == [str(number) for number in range(rounds)]
