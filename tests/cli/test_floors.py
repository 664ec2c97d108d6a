"""Floors of a study: trained and fitted once, shown in every table, and told first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli.audits import read
from cli.commands import SMALL, run

from depthgauge.auditing import linear_floor
from depthgauge.registry import TASKS
from depthgauge.results.load import load
from depthgauge.store.result_file import unpack_answers
from depthgauge.training.linear_classifier import fit_linear_classifier

FEW = (*SMALL, "--rules", "bp", "dfa", "--seeds", 1, 2, "--floors")


@pytest.fixture(scope="module")
def floored_once(tmp_path_factory):
    """An audit of two rules with its floors. Look, do not touch."""
    folder = tmp_path_factory.mktemp("floored") / "study"
    done = run("audit", *FEW, "--out", folder)
    assert done.status == 0, done.err
    return folder, done


@pytest.fixture
def floored(floored_once, tmp_path):
    return shutil.copytree(floored_once[0], tmp_path / "study")


def no_fit(monkeypatch):
    def refuse(task):
        raise AssertionError("fitted again")

    monkeypatch.setattr(linear_floor, "fit_linear_classifier", refuse)


def test_the_linear_floor_is_the_fitted_classifier_on_the_tasks_samples(floored_once):
    task = TASKS.find("digits")[0].load()
    stored = read(floored_once[0] / "audit.json")["floors"]["linear"]
    right = fit_linear_classifier(task).right_answers(task.evaluation, task)
    assert stored["accuracy"] == pytest.approx(right.mean())
    assert stored["task"]["checksum"] == task.checksum
    assert (unpack_answers(stored["right"]) == right).all()


def test_the_network_without_blocks_is_a_run_of_each_seed(floored_once):
    folder, _ = floored_once
    study = load(folder)
    shallow = study.floors.shallow
    runs = {run.identity: run for run in study.runs}
    assert shallow.accuracies.keys() == {1, 2}
    for seed, identity in shallow.runs.items():
        run = runs[identity]
        assert (run.label, run.config.net.blocks, run.config.seed) == ("bp[shallow]", 0, seed)
        assert run.accuracy == shallow.accuracies[seed]


def test_floors_are_in_the_tables_and_the_first_sentence_of_a_rule_below_them(floored_once):
    """One epoch of so small a network is far below a linear classifier of the digits."""
    folder, done = floored_once
    accuracy = 100 * load(folder).floors.linear.accuracy
    for text in (done.out, (folder / "audit.md").read_text(encoding="utf-8")):
        assert "linear classifier" in text
        assert f"{accuracy:.1f}" in text
    sentences = " ".join(done.out.partition("\nbp ")[2].split())
    assert "it is not shown to beat a linear classifier of the input" in sentences
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<p>dfa is not shown to beat a linear classifier of the input by 2 points" in page
    assert f'"linear classifier {accuracy:.1f} %"' in page


def test_what_is_continued_is_not_fitted_and_not_trained_again(floored, monkeypatch):
    no_fit(monkeypatch)
    before = {path: path.stat().st_mtime_ns for path in floored.glob("runs/*/result.json")}
    done = run("audit", *FEW, "--out", floored, "--json")
    assert done.status == 0, done.err
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(floored.glob("runs/*"))) == len(before)
    ladder = run("ladder", *FEW, "--k", 0, 2, "--out", floored, "--json")
    assert ladder.status == 0, ladder.err
    written = read(floored / "ladder.json")["floors"]
    assert written == ladder.document["floors"] == done.document["floors"]


def test_who_asked_for_the_control_gets_the_same_runs(floored, monkeypatch):
    no_fit(monkeypatch)
    before = {path.name for path in floored.glob("runs/*")}
    done = run("audit", *FEW, "--controls", "shallow", "--out", floored, "--json")
    assert done.status == 0, done.err
    added = {path.name for path in floored.glob("runs/*")} - before
    shallow = done.document["shallow"]
    assert added == set(shallow["dfa[shallow]"]["runs"].values())
    assert shallow["bp[shallow]"] == done.document["floors"]["shallow"]
    by_rule = run("audit", *FEW[:-1], "--rules", "bp", "bp[shallow]", "--out", floored, "--dry-run")
    assert by_rule.out.count("bp[shallow]") == 2


def test_a_damaged_floor_is_named_and_fitted_again(floored):
    good = load(floored).linear_floor
    (floored / "floors.json").write_text("{")
    assert load(floored).floors.linear is None
    (problem,) = load(floored).problems
    assert "floors.json is damaged or of another version" in problem
    assert run("audit", *FEW, "--out", floored).status == 0
    assert load(floored).linear_floor == good
    assert load(floored).problems == ()


def test_a_floor_of_other_data_is_not_taken_for_this_studys(floored):
    good = load(floored).linear_floor
    other = good.model_dump() | {"accuracy": 0.99}
    other["task"]["checksum"] = "0" * 64
    (floored / "floors.json").write_text(json.dumps(other))
    assert run("audit", *FEW, "--out", floored).status == 0
    assert load(floored).linear_floor == good


def test_without_floors_nothing_is_fitted_or_trained(tmp_path, monkeypatch):
    no_fit(monkeypatch)
    options = ("--rules", "dfa", "--seeds", 1, "--k", 0, "--out", tmp_path / "s")
    done = run("ladder", *SMALL, *options, "--no-floors", "--json")
    assert done.status == 0, done.err
    assert done.document["floors"] is None
    assert set(done.document["rules"]) == {"dfa"}
    assert not (tmp_path / "s" / "floors.json").exists()


def test_a_network_without_blocks_has_the_linear_floor_alone(tmp_path):
    options = ("--depth", 0, "--rules", "bp", "--seeds", 1, "--out", Path(tmp_path) / "s")
    done = run("ladder", *SMALL, *options, "--floors", "--json")
    assert done.status == 0, done.err
    floors = done.document["floors"]
    assert floors["shallow"] is None
    assert 0.9 < floors["linear"]["accuracy"] < 1
