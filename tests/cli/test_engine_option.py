"""`--engine plain`: the same ladder by the reference path."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli.commands import SMALL, assert_bad_input, run

RULES = ("bp", "dfa")
COMMAND = ("ladder", *SMALL, "--no-twins", "--dtype", "float64", "--rules", *RULES, "--seeds", 1)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine") / "plain"
    done = run(*COMMAND, "--engine", "plain", "--out", folder)
    assert done.status == 0, done.err
    return folder


def metrics(folder: Path) -> dict[str, list]:
    return {
        path.parent.name: [json.loads(line) for line in path.read_text().splitlines()]
        for path in folder.glob("runs/*/metrics.jsonl")
    }


def close(one: object, other: object) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == (pytest.approx(other, rel=1e-6) if isinstance(other, float) else other)


def test_both_engines_measure_the_same(plain, tmp_path):
    assert run(*COMMAND, "--out", tmp_path / "fast").status == 0
    fast, slow = metrics(tmp_path / "fast"), metrics(plain)
    assert fast.keys() == slow.keys()
    assert len(fast) == 6
    for identity, lines in slow.items():
        assert close(fast[identity], lines)


def test_runs_say_by_which_engine_they_were_trained(plain):
    results = [json.loads(path.read_text()) for path in plain.glob("runs/*/result.json")]
    assert {result["provenance"]["engine"] for result in results} == {"plain"}
    assert json.loads((plain / "study.json").read_text())["engine"] == "plain"


def test_a_study_stays_with_its_engine(plain, tmp_path):
    study = shutil.copytree(plain, tmp_path / "study")
    assert_bad_input(run(*COMMAND, "--engine", "cohort", "--out", study), "--engine plain")
    assert_bad_input(
        run(*COMMAND, "--engine", "cohort", "--out", study, "--dry-run"), "--engine plain"
    )
    lost = next(study.glob("runs/*/result.json")).parent
    shutil.rmtree(lost)
    assert run("resume", study).status == 0
    assert json.loads((lost / "result.json").read_text())["provenance"]["engine"] == "plain"
    assert close(metrics(study), metrics(plain))


def test_an_unknown_engine(tmp_path):
    assert_bad_input(run(*COMMAND, "--engine", "steam", "--out", tmp_path), "steam", "plain")


def test_bf16_is_the_cohorts_alone(tmp_path):
    command = ("ladder", *SMALL, "--dtype", "bf16", "--rules", "dfa", "--seeds", 1)
    assert_bad_input(
        run(*command, "--engine", "plain", "--out", tmp_path / "plain"), "bf16", "--engine cohort"
    )
    done = run(*command, "--out", tmp_path / "fast")
    assert done.status == 0, done.err
    config = json.loads(next(tmp_path.glob("fast/runs/*/config.json")).read_text())
    assert config["recipe"]["dtype"] == "bf16"
