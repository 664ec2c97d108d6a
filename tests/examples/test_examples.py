"""The examples run as a reader would run them, from a notebook and from a shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import depthgauge as dg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SECONDS = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the notebook was run."""
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def cells(folder: Path) -> dict[str, list[Any]]:
    """The outputs of every cell of the notebook, by how the cell begins."""
    notebook = nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.source.splitlines()[0]: cell.outputs for cell in code}


def shown(outputs: list[Any], mime: str = "text/plain") -> list[str]:
    return [output.data[mime] for output in outputs if mime in output.get("data", {})]


def only_study(folder: Path) -> dg.StudyResult:
    (path,) = (folder / "runs").iterdir()
    return dg.load(path)


def test_a_notebook_shows_progress_while_it_trains_and_reads(cells) -> None:
    *training, reading = shown(cells["study = dg.audit("])
    assert len(training) > 1, "the ladder, and then its swap twins"
    assert all(progress.startswith("training: done in ") for progress in training)
    assert "bp" in training[0]
    assert "sign_feedback" in training[0]
    assert reading.startswith("reading: done in ")


def test_a_notebook_shows_the_study_by_itself(cells) -> None:
    (html,) = shown(cells["study"], "text/html")
    assert "<td>sign_feedback</td>" in html
    assert "<svg" in html


def test_a_rule_of_the_notebook_is_judged_and_its_study_loads_again(cells, folder) -> None:
    study = only_study(folder)
    assert list(study) == ["bp", "sign_feedback", "bp[shallow]"]
    assert study["bp"].used_depth.seeds == 3
    assert study.is_complete
    assert study["sign_feedback"].basis == "audit"
    (compared,) = shown(cells['verdict = study["sign_feedback"].verdict'])
    assert compared == str(study["sign_feedback"].verdict.word == "trustworthy")
    assert shown(cells["again = dg.load(study.folder)"]) == ["True"]


def test_the_notebook_leaves_a_chart_and_a_table(cells, folder) -> None:
    assert (folder / "ladder.pdf").read_bytes().startswith(b"%PDF")
    (table,) = shown(cells['study.to_dataframe("runs")[["label", "k", "seed", "accuracy"]]'])
    accuracies = {f"{run.accuracy:.6f}" for run in only_study(folder).runs}
    assert {line.split()[-1] for line in table.splitlines()[1:]} == accuracies


@pytest.mark.slow
def test_the_script_audits_its_own_rule_and_trains_nothing_twice(tmp_path) -> None:
    first, again = (
        subprocess.run(
            [sys.executable, EXAMPLES / "own_rule.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        for _ in range(2)
    )
    study = only_study(tmp_path)
    assert f"sign_feedback: {study['sign_feedback'].verdict}" in first.stdout.splitlines()
    assert "The same after loading: True" in first.stdout.splitlines()
    assert (tmp_path / "ladder.pdf").read_bytes().startswith(b"%PDF")
    assert "21 runs of 3 epochs" in first.stderr
    assert "swap twins of 3 epochs" in first.stderr
    assert again.stderr == ""
    assert again.stdout == first.stdout
