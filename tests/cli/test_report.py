"""`depthgauge report`: a study as one page, at any time."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run
from store.small_runs_on_disk import contents

from depthgauge.cli.main import main


@pytest.fixture
def small(trained: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained, tmp_path / "small")


def test_the_page_goes_into_the_study_and_its_path_is_said(small):
    done = run("report", small)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{small}/report.html\n"
    assert "dfa" in (small / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["-o", "--output"])
def test_or_wherever_it_is_wanted(small, tmp_path, option):
    before = contents(small)
    done = run("report", "small", option, "page.html")
    assert (done.status, done.out, done.err) == (0, "page.html\n", "")
    assert "dfa" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert contents(small) == before


def test_an_older_page_is_replaced(small):
    (small / "report.html").write_text("old")
    assert run("report", small).status == 0
    assert (small / "report.html").read_text() != "old"
    assert not [path for path in small.iterdir() if path.name.startswith(".")]


# Bad input


def test_an_empty_folder_and_a_missing_one(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "missing"):
        assert_bad_input(run("report", name), name, "is not the folder of a study")
    assert not (tmp_path / "missing").exists()
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 7}'])
def test_a_damaged_study(small, content):
    (small / "study.json").write_text(content)
    (small / "report.html").unlink()
    assert_bad_input(run("report", small), f"{small}/study.json", "nothing was changed")
    assert (small / "study.json").read_text() == content
    assert not (small / "report.html").exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 7}'])
def test_a_damaged_audit_is_said_and_the_page_shows_the_rest(small, content):
    (small / "audit.json").write_text(content)
    done = run("report", small)
    assert (done.status, done.out) == (0, f"{small}/report.html\n")
    assert f"{small}/audit.json is not an audit of this version" in done.err


def test_a_damaged_result_is_said_and_the_page_shows_the_rest(small):
    (path, *_) = sorted(small.glob("runs/*/result.json"))
    path.write_text("{}")
    done = run("report", small)
    assert (done.status, done.out) == (0, f"{small}/report.html\n")
    assert str(path) in done.err


@pytest.mark.parametrize("output", ["missing/page.html", ".", "small", "small/study.json/page"])
def test_an_output_that_cannot_be_one(small, output):
    assert_bad_input(run("report", "small", "-o", output), output, "-o")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(small):
    small.chmod(0o555)
    try:
        assert_bad_input(run("report", small), str(small), "cannot be written")
    finally:
        small.chmod(0o755)


def test_a_system_that_refuses_to_write(small, monkeypatch):
    """As on a file system that is mounted for reading only."""

    def refuse(self, *_):
        raise OSError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    done = run("report", small)
    assert_bad_input(done, f"cannot read or write {small}", "Read-only file system")


def test_no_folder_at_all():
    assert_bad_input(run("report"), "DIR")


# Any terminal


@pytest.mark.parametrize("as_json", [False, True])
def test_a_terminal_that_cannot_encode_a_sign_still_gets_an_answer(trained, tmp_path, as_json):
    first, second = (shutil.copytree(trained, tmp_path / name) for name in ("früher", "später"))
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    options = ["--json"] if as_json else []
    with contextlib.redirect_stdout(terminal):
        assert main(["compare", str(first), str(second), *options]) == 0
    out = terminal.buffer.getvalue().decode("ascii")
    assert ("fr\\xfcher" in out) is as_json
    assert ("fr?her" in out) is not as_json
