"""Side by side or one after the other: the same results, and nobody's failure is another's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from store.small_runs_on_disk import checkpoint_bits

from depthgauge.config import NetConfig, Recipe
from depthgauge.errors import UserError
from depthgauge.executors.job import Failure, Job, label_of, pack, unpack
from depthgauge.executors.local import run_here, run_side_by_side, threads_for
from depthgauge.rules.choice import choose_rule
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.plan import Grid
from depthgauge.studies.runner import left_to_do
from depthgauge.tasks.registry import load_task

RULES_OF_A_USER = """
import os
from depthgauge.rules.dfa import DFA

class Raises(DFA):
    name = "raises"
    def credit(self, context):
        raise ZeroDivisionError("the author divided by zero")

class Dies(DFA):
    name = "dies"
    def credit(self, context):
        os._exit(9)

class Works(DFA):
    name = "works"
"""


@pytest.fixture
def rule_file(tmp_path: Path) -> Path:
    path = tmp_path / "rules_of_a_user.py"
    path.write_text(RULES_OF_A_USER)
    return path


def prepare(folder: Path, *rules: str) -> tuple[Grid, Job]:
    grid = Grid(
        load_task("digits"),
        NetConfig(width=4, blocks=1),
        Recipe(epochs=2),
        [choose_rule(rule) for rule in rules],
        ks=(0, 1),
        seeds=(1,),
    )
    StudyFolder(folder).open(grid.base, 1, 1)
    return grid, Job(folder, "digits", 0, "cpu", threads=1, save_every=0.0)


def train_side_by_side(folder: Path, *rules: str) -> list[Failure]:
    grid, job = prepare(folder, *rules)
    return run_side_by_side(job, grid.cohorts(), 2, lambda *_: None)


def finished_labels(folder: Path) -> set[str]:
    runs = StudyFolder(folder).all_runs()
    return {run.config.rule.label for run in runs if run.result is not None}


def outcome(folder: Path) -> dict[str, object]:
    return {
        path.parent.name: (
            json.loads(path.read_text())["final"],
            path.with_name("metrics.jsonl").read_bytes(),
            checkpoint_bits(path.with_name("checkpoint.safetensors")),
        )
        for path in folder.glob("runs/*/result.json")
    }


def test_side_by_side_gives_the_same_bits_as_one_after_the_other(tmp_path, rule_file):
    rules = ("bp", "fa", f"{rule_file}:Works[normalise=batch]")
    assert train_side_by_side(tmp_path / "side", *rules) == []
    grid, job = prepare(tmp_path / "here", *rules)
    before = torch.get_num_threads()
    try:
        assert run_here(job, grid.cohorts(), grid.task, lambda *_: None) == []
    finally:
        torch.set_num_threads(before)
    assert len(outcome(tmp_path / "here")) == 6
    assert outcome(tmp_path / "side") == outcome(tmp_path / "here")
    assert left_to_do(StudyFolder(tmp_path / "side"), grid.cohorts()) == []


def test_a_rule_that_raises_is_reported_and_the_others_finish(tmp_path, rule_file):
    failures = train_side_by_side(tmp_path / "study", f"{rule_file}:Raises", "bp", "dfa")
    assert [(f.label, f.runs) for f in failures] == [("raises", 2)]
    assert "divided by zero" in failures[0].reason
    assert finished_labels(tmp_path / "study") == {"bp", "dfa"}


def test_a_worker_that_dies_costs_only_its_own_cohort(tmp_path, rule_file):
    failures = train_side_by_side(tmp_path / "study", f"{rule_file}:Dies", "bp", "dfa")
    assert [f.label for f in failures] == ["dies"]
    assert "worker process ended" in failures[0].reason
    assert finished_labels(tmp_path / "study") == {"bp", "dfa"}


def test_a_cohort_survives_being_sent(tmp_path, rule_file):
    grid, _ = prepare(tmp_path / "study", f"{rule_file}:Works[epsilon=0.5]")
    (cohort,) = grid.cohorts()
    arrived = unpack(pack(cohort))
    assert [run.config for run in arrived] == [run.config for run in cohort]
    assert {run.choice.options.epsilon for run in arrived} == {0.5}
    assert arrived[0].choice.source == cohort[0].choice.source


@pytest.mark.parametrize(
    ("rules", "label"),
    [
        (["dfa"], "dfa"),
        (["dfa[normalise=batch]"], "dfa[normalise=batch]"),
        (["dfa", "dfa[normalise=batch]"], "dfa, dfa[normalise=batch]"),
        (["dfa", "dfa[normalise=batch]", "dfa[normalise=none]"], "dfa at 3 settings"),
    ],
)
def test_a_cohort_is_called_by_its_settings_while_they_are_few(tmp_path, rules, label):
    grid, _ = prepare(tmp_path / "study", *rules)
    (cohort,) = grid.cohorts()
    assert label_of(cohort) == label


@pytest.mark.parametrize(
    ("cores", "cohorts", "threads"), [(1, 3, 1), (2, 1, 2), (2, 3, 1), (8, 3, 2), (4, 9, 1)]
)
def test_threads_leave_no_core_idle(monkeypatch, cores, cohorts, threads):
    monkeypatch.setattr(torch, "get_num_threads", lambda: cores)
    assert threads_for(cohorts) == threads


def test_a_rule_that_was_edited_after_the_plan_is_refused(tmp_path, rule_file):
    grid, _ = prepare(tmp_path / "study", f"{rule_file}:Works")
    (cohort,) = grid.cohorts()
    parcel = pack(cohort)
    rule_file.write_text(RULES_OF_A_USER + "\n# edited\n")
    with pytest.raises(UserError, match="changed after the study was planned"):
        unpack(parcel)
