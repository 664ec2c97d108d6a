"""The ladder as a document: everything finished, in order, with honest means."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.small_runs_on_disk import BASE, finished, run_config, started

from depthgauge.errors import UserError
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.ladder import collect_ladder, read_ladder, rule_names, summarise


@pytest.fixture
def study(tmp_path):
    return StudyFolder(tmp_path)


def collect(study, *rules):
    asked_for = [run_config(rule, 0, 0).rule if isinstance(rule, str) else rule for rule in rules]
    return collect_ladder(study, BASE, 0.25, asked_for, {"version": "0"})


# One rung


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_mean_and_sample_standard_deviation(values):
    summary = summarise({"final_acc": value} for value in values)
    assert summary["n"] == len(values)
    assert summary["mean"] == pytest.approx(np.mean(values), abs=1e-12)
    assert summary["std"] == pytest.approx(np.std(values, ddof=1), abs=1e-9)


def test_the_standard_deviation_is_not_that_of_a_population():
    summary = summarise([{"final_acc": 0.1}, {"final_acc": 0.2}, {"final_acc": 0.3}])
    assert summary["std"] == pytest.approx(0.1)


def test_one_run_has_no_spread_and_none_has_no_mean():
    assert summarise([{"final_acc": 0.3}]) == {"mean": 0.3, "std": None, "n": 1}
    assert summarise([]) == {"mean": None, "std": None, "n": 0}


def test_what_diverged_does_not_count():
    runs = [{"final_acc": 0.2}, {"final_acc": None}, {"final_acc": 0.4}]
    summary = summarise(runs)
    assert summary["mean"] == pytest.approx(0.3)
    assert summary["std"] == pytest.approx(np.std([0.2, 0.4], ddof=1))
    assert summary["n"] == 2
    assert summarise([{"final_acc": None}]) == {"mean": None, "std": None, "n": 0}


def test_an_accuracy_of_zero_is_an_accuracy():
    assert summarise([{"final_acc": 0.0}, {"final_acc": 0.5}])["n"] == 2


# The whole ladder


def test_every_finished_run_is_in_its_place(study):
    accuracies = {("dfa", 0, 1): 0.2, ("dfa", 0, 2): 0.4, ("dfa", 2, 1): 0.5, ("bp", 2, 1): 0.9}
    for (rule, k, seed), accuracy in accuracies.items():
        finished(study.runs, run_config(rule, k, seed), accuracy)
    ladder = collect(study, "bp", "dfa")
    found = {
        (rule, int(k), int(seed)): run["final_acc"]
        for rule, rungs in ladder["results"].items()
        for k, runs in rungs.items()
        for seed, run in runs.items()
    }
    assert found == accuracies
    assert ladder["summary"]["dfa"]["0"] == {
        "mean": pytest.approx(0.3),
        "std": pytest.approx(np.std([0.2, 0.4], ddof=1)),
        "n": 2,
    }
    assert ladder["summary"]["bp"] == {"2": {"mean": 0.9, "std": None, "n": 1}}
    assert ladder["config"] == BASE | {"chance": 0.25}
    json.dumps(ladder, allow_nan=False)


def test_every_number_leads_to_its_run(study):
    config = run_config("dfa", 1, 7)
    folder = finished(study.runs, config, 0.3)
    run = collect(study, "dfa")["results"]["dfa"]["1"]["7"]
    assert study.path / run["run"] == folder.path
    assert run["commit"] == "abc"
    assert run["h_norm"] == [1.0, 2.0, 3.0]
    assert run["g_norm"] == [0.1, 0.2, 0.3]


def test_the_rules_asked_for_come_first_and_k_and_seeds_are_sorted_as_numbers(study):
    for rule in ("zeta", "alpha", "dfa", "bp"):
        for k in (2, 0):
            for seed in (123, 42, 5):
                finished(study.runs, run_config(rule, k, seed), 0.5)
    finished(study.runs, run_config("dfa", 10, 5), 0.5)
    results = collect(study, "dfa", "bp")["results"]
    assert list(results) == ["dfa", "bp", "alpha", "zeta"]
    assert list(results["dfa"]) == ["0", "2", "10"]
    assert list(results["dfa"]["2"]) == ["5", "42", "123"]


def test_a_diverged_run_is_shown_but_not_averaged(study):
    finished(study.runs, run_config("dfa", 0, 1), 0.2)
    finished(study.runs, run_config("dfa", 0, 2), 0.9, diverged_in=2)
    ladder = collect(study, "dfa")
    lost = ladder["results"]["dfa"]["0"]["2"]
    assert (lost["status"], lost["final_acc"], lost["diverged_epoch"]) == ("diverged", None, 2)
    assert ladder["summary"]["dfa"]["0"] == {"mean": 0.2, "std": None, "n": 1}


def test_unfinished_runs_are_left_out(study):
    started(study.runs, run_config("dfa", 0, 1), 1)
    assert collect(study, "dfa")["results"] == {}


def test_a_corrupt_result_stops_the_collection(study):
    finished(study.runs, run_config("dfa", 0, 1), 0.2)
    folder = finished(study.runs, run_config("dfa", 0, 2), 0.3)
    folder.result_path.write_text("{")
    with pytest.raises(UserError, match=folder.config.identity):
        collect(study, "dfa")


def test_an_edited_rule_is_not_confused_with_what_it_was(study):
    for seed in range(8):
        finished(study.runs, run_config("mine", 0, seed, source="before"), 0.1)
        finished(study.runs, run_config("mine", 0, seed, source="after"), 0.9)
    asked_for = run_config("mine", 0, 0, source="after").rule
    results = collect(study, asked_for)["results"]
    accuracies = {
        label: {run["final_acc"] for run in rungs["0"].values()} for label, rungs in results.items()
    }
    assert accuracies == {"mine": {0.9}, "mine@before": {0.1}}


def test_versions_of_a_rule_have_different_names_however_alike():
    """Two of one source whose options were given other defaults, or two with none."""
    one = run_config("mine", 0, 0, source="before").rule
    versions = [one.model_copy(update={"options": {"a": a}}) for a in range(3)]
    old = [v.model_copy(update={"source": ""}) for v in versions]
    names = rule_names([*versions, *old, *versions])
    assert len(set(names.values())) == len(names) == 6
    assert [names[v.as_text] for v in versions[:2]] == ["mine", "mine@before"]


# Reading it back


def test_a_ladder_is_read_from_its_folder_or_its_file(study):
    finished(study.runs, run_config("dfa", 0, 1), 0.2)
    ladder = collect(study, "dfa")
    file = study.path / "ladder.json"
    file.write_text(json.dumps(ladder))
    assert read_ladder(study.path) == read_ladder(file) == ladder


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"config": 1, "results": 2}'])
def test_a_file_that_is_no_ladder_is_named(tmp_path, text):
    file = tmp_path / "ladder.json"
    file.write_text(text)
    with pytest.raises(UserError, match=r"ladder\.json"):
        read_ladder(tmp_path)


def test_a_folder_without_a_ladder_is_named(tmp_path):
    with pytest.raises(UserError, match="no ladder in"):
        read_ladder(tmp_path / "nothing")
