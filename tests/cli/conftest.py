"""Every command-line test works in a folder of its own, on one thread and without data sets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from cli.commands import run_ladder


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEPTHGAUGE_DATA", str(tmp_path / "no data here"))
    monkeypatch.setenv("COLUMNS", "200")
    with one_thread():
        yield


class one_thread:  # noqa: N801 – reads as a statement
    """With one thread a study trains in the process of the test."""

    def __enter__(self) -> None:
        self.before = torch.get_num_threads()
        torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self.before)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study: bp and dfa, k = 0, 1, 2, seeds 1 and 2. Look, do not touch."""
    folder = tmp_path_factory.mktemp("trained") / "study"
    with one_thread():
        done = run_ladder(folder)
    assert done.status == 0, done.err
    return folder


@pytest.fixture
def study(trained: Path, tmp_path: Path) -> Path:
    """A copy of the finished study that may be touched; times of files are kept."""
    return shutil.copytree(trained, tmp_path / "study")
