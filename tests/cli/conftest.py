"""Every command-line test works in a folder of its own, on one thread and without data sets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.audits import AuditedStudy, run_audit, run_files
from cli.commands import on_cores, run, run_ladder, write_rules
from cli.stopped_studies import STOPPED, command, run_stopped, write_stopping_rules

from depthgauge.training.threads import use_threads


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEPTHGAUGE_DATA", str(tmp_path / "no data here"))
    monkeypatch.setenv("COLUMNS", "200")
    with one_core():
        yield


@contextmanager
def one_core() -> Iterator[None]:
    """On one core a study trains in the process of the test; each pytest worker has its own."""
    with on_cores(1), use_threads(1):
        yield


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study: bp and dfa, k = 0, 1, 2, seeds 1 and 2. Look, do not touch."""
    folder = tmp_path_factory.mktemp("trained") / "study"
    with one_core():
        done = run_ladder(folder)
    assert done.status == 0, done.err
    return folder


@pytest.fixture
def study(trained: Path, tmp_path: Path) -> Path:
    """A copy of the finished study that may be touched; times of files are kept."""
    return shutil.copytree(trained, tmp_path / "study")


@pytest.fixture(scope="session")
def audited(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> AuditedStudy:
    """The finished study, copied and audited. Look, do not touch."""
    folder = shutil.copytree(trained, tmp_path_factory.mktemp("audited") / "study")
    before = run_files(folder)
    with one_core():
        done = run_audit(folder, "--json", "--strict", rules=("bp", "dfa"), seeds=(1, 2))
    return AuditedStudy(folder, done, before)


@pytest.fixture(scope="session")
def own_rules(tmp_path_factory: pytest.TempPathFactory) -> AuditedStudy:
    """An audit of somebody's own rules, of which one explodes. Look, do not touch."""
    parent = tmp_path_factory.mktemp("own")
    rules = write_rules(parent)
    with one_core():
        done = run_audit(parent / "study", "--json", rules=(f"{rules}:Mine", f"{rules}:Exploding"))
    return AuditedStudy(parent / "study", done, {})


@pytest.fixture(scope="session")
def stopping_rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with rules that stop or fail when a test says so."""
    return write_stopping_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="session")
def undisturbed(stopping_rules: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of `stopped`, which nobody disturbed. Look, do not touch."""
    folder = tmp_path_factory.mktemp("undisturbed") / "study"
    with one_core():
        done = run(*command(stopping_rules, folder))
    assert (done.status, done.err) == (0, "")
    return folder


@pytest.fixture(scope="session")
def stopped_once(stopping_rules: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was asked to stop within an epoch. Look, do not touch."""
    folder = tmp_path_factory.mktemp("stopped") / "study"
    with one_core():
        done = run_stopped(*command(stopping_rules, folder))
    assert done.status == STOPPED, done.err
    return folder


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """A copy of the study that was stopped, which may be touched."""
    return shutil.copytree(stopped_once, tmp_path / "stopped")
