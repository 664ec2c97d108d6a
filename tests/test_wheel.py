"""The package as people get it: a wheel with everything in it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tracked files, without the network."""
    for module in ("build", "hatchling"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked_files():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, copy)
    (path,) = out.iterdir()
    return path


def tracked_files() -> list[str]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the tests do not run in a git checkout")
    names = call("git", "-C", ROOT, "ls-files", "-z").split("\0")
    return [name for name in names if (ROOT / name).is_file()]


def call(*command: object, **options: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_has_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "depthgauge/py.typed" in names
    assert "depthgauge/published/figures.json" in names
    package = {name for name in tracked_files() if name.startswith("src/depthgauge/")}
    assert {name.removeprefix("src/") for name in package} <= names


def test_the_wheel_has_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert all(top == "depthgauge" or top.endswith(".dist-info") for top in tops)
    assert len(tops) == 2


def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        (points,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        text, commands = archive.read(metadata).decode(), archive.read(points).decode()
    assert "Name: depthgauge\n" in text
    assert "Requires-Dist: torch" in text
    assert "depthgauge = depthgauge.cli.main:main" in commands
    assert any("LICENSE" in name for name in zipfile.ZipFile(wheel).namelist())


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(wheel, tmp_path):
    """Downloads what the package depends on; torch first and pinned, as in the Makefile."""
    environment = tmp_path / "environment"
    call(sys.executable, "-m", "venv", environment)
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for what in ("torch==2.13.0", wheel):
        call(binaries / "pip", "install", "--quiet", "--no-compile", what, env=clean)
    out = call(binaries / "depthgauge", "rules", "--json", env=clean, cwd=tmp_path)
    assert {"bp", "fa", "dfa"} <= {rule["name"] for rule in json.loads(out)}
