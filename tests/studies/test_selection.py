"""Each rule's best setting."""

from __future__ import annotations

import math
from typing import Any

import pytest
from studies.small_grids import TASK, grid, study_of, train
from training.small_runs import make_task

from depthgauge.studies.selection import best, candidates, usual_size


def candidate(mean: float | None, diverged: int = 0) -> dict[str, Any]:
    return {"mean": mean, "std": None, "n": 3 - diverged, "diverged": diverged, "runs": []}


def test_the_best_has_the_highest_mean():
    found = {"a": candidate(0.3), "b": candidate(0.5), "c": candidate(0.4)}
    assert best(found) == "b"


def test_of_equals_the_first_is_taken():
    assert best({"b": candidate(0.5), "a": candidate(0.5)}) == "b"


def test_a_setting_that_diverged_with_any_seed_comes_last():
    fast, lost = candidate(0.9, diverged=1), candidate(None, 3)
    assert best({"fast": fast, "slow": candidate(0.1), "lost": lost}) == "slow"
    assert best({"lost": lost, "fast": fast}) == "fast"
    assert best({"lost": lost}) == "lost"


def test_where_nothing_was_trained_nothing_is_chosen():
    assert best({}) is None


def test_a_tenth_of_the_training_samples_is_held_out():
    assert usual_size(TASK) == 7
    assert usual_size(make_task(4)) == 1


def test_candidates_are_means_over_seeds_of_finished_runs(tmp_path):
    planned = grid("dfa", "dfa[learning_rate=1e30]", "dfa[penalty=1]", ks=(2,), seeds=(1, 2, 3))
    study = study_of(planned, tmp_path / "study")
    tried = grid("dfa", "dfa[learning_rate=1e30]", ks=(2,), seeds=(1, 2, 3))
    assert train(study, tried) == []
    found = candidates(study, planned)
    assert list(found) == ["dfa", "dfa[learning_rate=1e+30]"]
    accuracies = []
    for run in grid("dfa", ks=(2,), seeds=(1, 2, 3)).runs():
        accuracies.append(study.run(run.config).result["final_acc"])
    assert found["dfa"]["mean"] == pytest.approx(math.fsum(accuracies) / 3)
    assert (found["dfa"]["n"], found["dfa"]["diverged"]) == (3, 0)
    lost = found["dfa[learning_rate=1e+30]"]
    assert (lost["mean"], lost["n"], lost["diverged"]) == (None, 0, 3)
    for entry in found.values():
        assert len(entry["runs"]) == 3
        for path in entry["runs"]:
            folder, runs, identity = path.split("/")
            assert (folder, runs) == ("selection", "runs")
            assert (study.path / "runs" / identity / "result.json").is_file()
    assert best(found) == "dfa"
