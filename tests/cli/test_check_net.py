"""`depthgauge check-net`: plain sentences, one JSON document, and an exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run

CODE = """
from torch import nn

def block():
    return nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 6), nn.GELU())

def make():
    print("built")
    return nn.Sequential(nn.Linear(64, 6), block(), block(), nn.Linear(6, 10))

def quiet():
    return nn.Sequential(nn.Linear(64, 6), block(), block(), nn.Linear(6, 10))

def fail():
    raise ValueError("no such width")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    return path


def test_a_network_that_can_do_everything(file: Path) -> None:
    done = run("check-net", f"{file}:make", "--blocks", "1,2", "--task", "digits")
    assert done.status == 0
    assert done.err == "built\n"
    assert "\n  train       yes\n" in done.out
    assert "2: 1 … 2 (Sequential)" in done.out


def test_json_is_one_document(file: Path) -> None:
    done = run("check-net", f"{file}:make", "--shape", "64", "--json")
    assert done.status == 0
    assert done.document["path"] == "1,2"
    assert done.document["trained"] is None
    assert done.document["rules"]["dfa"] is None


def test_a_network_that_cannot_be_trained_has_status_1(file: Path) -> None:
    done = run("check-net", f"{file}:make", "--blocks", "2,1")
    assert done.status == 1
    assert "  train       no: block" in done.out


def test_bad_input_is_one_sentence(file: Path) -> None:
    assert_bad_input(run("check-net", f"{file}:fail"), "no such width")
    assert_bad_input(run("check-net", f"{file}:quiet", "--blocks", "layers"), "matches no modules")
    assert_bad_input(run("check-net", f"{file}:quiet", "--words", "9"), "give the shape too")
    assert_bad_input(run("check-net", "nowhere.py:make"), "there is no file")
