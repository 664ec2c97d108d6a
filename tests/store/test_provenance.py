"""Where a number comes from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy
import pytest
import torch

from depthgauge import __version__
from depthgauge.store import provenance


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git checkout of one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    file = tmp_path / "package" / "provenance.py"
    file.parent.mkdir()
    file.write_text("# tracked\n")
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(tmp_path, *who, "commit", "--quiet", "--message", "one")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit_of(checkout: Path) -> str | None:
    return provenance.git_commit(checkout / "package" / "provenance.py")


def test_the_commit_of_a_clean_checkout(checkout):
    assert commit_of(checkout) == git(checkout, "rev-parse", "HEAD")


def test_a_tag_does_not_hide_the_commit(checkout):
    git(checkout, "-c", "user.name=A", "-c", "user.email=a@b.c", "tag", "-a", "v1", "-m", "one")
    assert commit_of(checkout) == git(checkout, "rev-parse", "HEAD")


def test_a_changed_checkout_is_marked_dirty(checkout):
    (checkout / "package" / "provenance.py").write_text("# changed\n")
    assert commit_of(checkout) == git(checkout, "rev-parse", "HEAD") + "-dirty"


def test_an_installed_package_inside_someone_elses_checkout_has_no_commit(checkout):
    installed = checkout / "environment" / "provenance.py"
    installed.parent.mkdir()
    installed.write_text("# not tracked\n")
    assert provenance.git_commit(installed) is None


def test_without_git_there_is_no_commit(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout / "nothing here"))
    assert commit_of(checkout) is None


def test_the_environment_names_software_and_machine():
    found = provenance.environment()
    assert found["version"] == __version__
    assert found["torch"] == torch.__version__
    assert found["threads"] == torch.get_num_threads()
    assert found["cores"] == os.cpu_count()
    assert found["libraries"]["numpy"] == numpy.__version__
    assert found["processor"]
    assert 2**28 < found["memory_bytes"] < 2**50
    assert set(found) == {
        "date",
        "version",
        "commit",
        "dirty",
        "python",
        "torch",
        "libraries",
        "processor",
        "cores",
        "gpu",
        "memory_bytes",
        "system",
        "threads",
    }
    json.dumps(found, allow_nan=False)


def test_the_environment_has_the_date_in_world_time():
    before = datetime.now(timezone.utc).replace(microsecond=0)
    date = datetime.fromisoformat(provenance.environment()["date"])
    assert date.utcoffset() == timedelta(0)
    assert before <= date <= datetime.now(timezone.utc)


@pytest.mark.parametrize(
    ("name", "text", "dirty"),
    [
        ("package/provenance.py", "# tracked\n", False),
        ("package/provenance.py", "# changed\n", True),
        ("installed.py", "# not tracked\n", None),
    ],
)
def test_the_environment_says_whether_the_checkout_was_changed(checkout, name, text, dirty):
    file = checkout / name
    file.write_text(text)
    found = provenance.environment(file)
    assert (found["commit"], found["dirty"]) == (provenance.git_commit(file), dirty)


def test_the_cost_is_time_on_the_wall_and_on_the_processor():
    cost = provenance.Cost()
    time.sleep(0.2)
    slept = cost.measure()
    while (measured := cost.measure())["cpu_seconds"] < slept["cpu_seconds"] + 0.1:
        pass
    assert set(measured) == {"wall_seconds", "cpu_seconds", "peak_memory_bytes"}
    assert slept["wall_seconds"] >= 0.2 > slept["cpu_seconds"]
    assert measured["wall_seconds"] > slept["wall_seconds"]
    assert measured["peak_memory_bytes"] >= slept["peak_memory_bytes"] > 2**23


@pytest.mark.parametrize("program", ["/usr/bin/depthgauge", "/x/depthgauge/cli/main.py", "-c"])
def test_the_command_can_be_typed_again(monkeypatch, program):
    arguments = ["ladder", "--rules", "dfa[normalise=batch]", "my rule.py:Mine"]
    monkeypatch.setattr("sys.argv", [program, *arguments])
    assert provenance.command_line() == (
        "depthgauge ladder --rules 'dfa[normalise=batch]' 'my rule.py:Mine'"
    )
