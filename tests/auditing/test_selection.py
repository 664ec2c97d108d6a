"""The choice of each rule's best setting."""

from __future__ import annotations

import math

import pytest
from scheduling.small_grids import TASK, grid, study_of, train
from training.small_runs import make_task

from depthgauge.auditing.selection import (
    best_setting,
    candidates,
    choose_settings,
    default_validation,
)
from depthgauge.results.audit_parts import Candidate, Selection
from depthgauge.results.load import load
from depthgauge.results.spread import Spread
from depthgauge.rules.choice import choose_rule


def candidate(mean: float | None, lost: int = 0) -> Candidate:
    return Candidate(accuracy=Spread(mean, None, 3 - lost), lost=lost, runs=())


def test_the_best_has_the_highest_mean():
    found = {"a": candidate(0.3), "b": candidate(0.5), "c": candidate(0.4)}
    assert best_setting(found) == "b"


def test_of_equals_the_first_is_taken():
    assert best_setting({"b": candidate(0.5), "a": candidate(0.5)}) == "b"


def test_a_setting_that_diverged_with_any_seed_comes_last():
    fast, lost = candidate(0.9, lost=1), candidate(None, 3)
    assert best_setting({"fast": fast, "slow": candidate(0.1), "lost": lost}) == "slow"
    assert best_setting({"lost": lost, "fast": fast}) == "fast"
    assert best_setting({"lost": lost}) is None


def test_where_nothing_was_trained_nothing_is_chosen():
    assert best_setting({}) is None


def test_a_tenth_of_the_training_samples_is_held_out():
    assert default_validation(TASK) == 7
    assert default_validation(make_task(4)) == 1


def test_candidates_are_means_over_seeds_of_finished_runs(tmp_path):
    planned = grid("dfa", "dfa[learning_rate=1e30]", "dfa[penalty=1]", ks=(2,), seeds=(1, 2, 3))
    study = study_of(planned, tmp_path / "study")
    tried = grid("dfa", "dfa[learning_rate=1e30]", ks=(2,), seeds=(1, 2, 3))
    assert train(study, tried) == []
    found = candidates(load(study.path), planned)
    assert list(found) == ["dfa", "dfa[learning_rate=1e+30]", "dfa[penalty=1.0]"]
    untried = found.pop("dfa[penalty=1.0]")
    assert (untried.accuracy.n, untried.lost, untried.runs) == (0, 3, ())
    accuracies = []
    for run in grid("dfa", ks=(2,), seeds=(1, 2, 3)).runs():
        accuracies.append(study.run(run.config).result["final_acc"])
    assert found["dfa"].accuracy.mean == pytest.approx(math.fsum(accuracies) / 3)
    assert (found["dfa"].accuracy.n, found["dfa"].lost) == (3, 0)
    lost = found["dfa[learning_rate=1e+30]"]
    assert (lost.accuracy.mean, lost.accuracy.n, lost.lost) == (None, 0, 3)
    for entry in found.values():
        assert len(entry.runs) == 3
        for path in entry.runs:
            folder, runs, identity = path.split("/")
            assert (folder, runs) == (study.path.name, "runs")
            assert (study.path / "runs" / identity / "result.json").is_file()
    assert best_setting(found) == "dfa"


def test_a_seed_that_is_missing_counts_against_a_setting(tmp_path):
    study = study_of(grid("dfa"), tmp_path / "study")
    assert train(study, grid("dfa", ks=(2,), seeds=(1,))) == []
    found = candidates(load(study.path), grid("dfa", ks=(2,), seeds=(1, 2)))
    assert (found["dfa"].accuracy.n, found["dfa"].lost) == (1, 1)


def test_a_rule_is_audited_as_given_and_at_its_best():
    found = {"dfa": candidate(0.3), "dfa[penalty=1.0]": candidate(0.4), "bp": candidate(0.6)}
    found |= {"bp[penalty=1.0]": candidate(0.5)}
    chosen, audited = settings(found, "bp", "dfa")
    assert audited == ["bp", "dfa", "dfa[penalty=1]"]
    assert [entry.chosen for entry in chosen.values()] == ["bp", "dfa[penalty=1.0]"]


def test_a_rule_of_which_nothing_was_trained_is_audited_as_given():
    chosen, audited = settings({}, "dfa")
    assert audited == ["dfa"]
    assert chosen == {"dfa": Selection(chosen=None, candidates={}, samples=7)}


def settings(found: dict[str, Candidate], *rules: str) -> tuple[dict[str, Selection], list[str]]:
    """Return the selection of each rule, and the audited settings as texts."""
    given = [choose_rule(rule) for rule in rules]
    chosen, audited = choose_settings(found, given, {"penalty": ["1"]}, 7)
    return chosen, [choice.text for choice in audited]
