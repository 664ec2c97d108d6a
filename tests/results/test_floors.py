"""Floors: which rules are shown to beat a linear classifier of the input, and by what test."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from report.studies import CHANCE, TASK, make_run, make_study
from scipy import stats

from depthgauge.results.floors import Floors, LinearFloor, floors_of
from depthgauge.store.result_file import pack_answers

SAMPLES = 400


def bits(accuracy: float, seed: int) -> np.ndarray:
    """So many samples named rightly, which ones is random."""
    right = np.zeros(SAMPLES, dtype=bool)
    right[: round(accuracy * SAMPLES)] = True
    return np.random.default_rng(seed).permutation(right)


FLOOR = bits(0.5, 0)
LINEAR = LinearFloor(task=TASK, accuracy=0.5, penalty=0.01, samples=900, right=pack_answers(FLOOR))


def runs_of(label: str, *accuracies: float | None) -> list:
    """Full runs of seeds 1, 2, …, with a bit for each sample."""
    return [
        make_run(label, seed, accuracy=accuracy)
        if accuracy is None
        else replace(
            make_run(label, seed, accuracy=accuracy), right=pack_answers(bits(accuracy, seed))
        )
        for seed, accuracy in enumerate(accuracies, start=1)
    ]


def above(*accuracies: float | None, linear: LinearFloor = LINEAR):
    return floors_of(runs_of("dfa", *accuracies), linear, CHANCE).above_linear["dfa"]


def test_the_test_is_of_both_parts_of_the_variance():
    """Seeds, and the evaluation samples that all seeds and the floor share."""
    accuracies = (0.5475, 0.55, 0.56)
    found = above(*accuracies)
    gain = np.array(accuracies) - 0.5 - 0.02
    over_seeds = gain.var(ddof=1) / 3
    right = np.mean([bits(a, s) for s, a in enumerate(accuracies, start=1)], axis=0)
    over_samples = (right - FLOOR).var(ddof=1) / SAMPLES
    total = over_seeds + over_samples
    freedom = total**2 / (over_seeds**2 / 2 + over_samples**2 / (SAMPLES - 1))
    assert found.p == pytest.approx(stats.t.sf(gain.mean() / math.sqrt(total), freedom))
    assert found.accuracy == pytest.approx(np.mean(accuracies))
    assert 0.05 < found.p < 0.5
    assert not found.is_shown


def test_a_rule_far_above_is_shown_to_be_and_one_two_points_above_is_not():
    assert above(0.7, 0.71, 0.7).is_shown
    assert not above(0.52, 0.5225, 0.52).is_shown
    assert not above(0.4, 0.41, 0.4).is_shown


def test_the_same_gain_is_shown_on_many_samples_and_not_on_few():
    """Without bits the noise of the evaluation set is that of two independent networks."""
    few = LINEAR
    many = LINEAR.model_copy(update={"right": pack_answers(np.tile(FLOOR, 100))})
    runs = [make_run("dfa", seed, accuracy=a) for seed, a in enumerate((0.55, 0.551, 0.552), 1)]
    shown = [floors_of(runs, one, CHANCE).above_linear["dfa"].is_shown for one in (few, many)]
    assert shown == [False, True]


def test_one_seed_counts_by_its_accuracy():
    for accuracy, is_shown in [(0.55, True), (0.51, False)]:
        found = above(accuracy)
        assert (found.p, found.seeds, found.is_shown) == (None, 1, is_shown)


def test_a_diverged_run_counts_with_chance_and_a_failed_one_is_missing():
    found = above(0.7, 0.7, None)
    assert found.accuracy == pytest.approx((0.7 + 0.7 + CHANCE) / 3)
    assert not found.is_shown
    failed = make_run("dfa", 9, state="failed")
    runs = [*runs_of("dfa", 0.7, 0.7), failed]
    assert floors_of(runs, LINEAR, CHANCE).above_linear["dfa"].seeds == 2


def test_rungs_controls_and_the_floor_itself_are_not_tested():
    runs = [
        make_run("bp", 1, k=1, accuracy=0.9),
        *runs_of("bp[wide_block]", 0.7),
        *runs_of("dfa", 0.7),
        make_run("bp[shallow]", 1, k=0, accuracy=0.6),
        make_run("bp[shallow]", 2, k=0, accuracy=0.62),
        make_run("dfa[shallow]", 1, k=0, accuracy=0.1),
    ]
    found = floors_of(runs, LINEAR, CHANCE)
    assert list(found.above_linear) == ["dfa"]
    assert found.shallow.accuracies == {1: 0.6, 2: 0.62}
    assert found.lines == {"linear classifier": 0.5, "bp[shallow]": pytest.approx(0.61)}


def test_a_task_without_a_linear_floor_says_why_and_tests_nothing():
    missing = LinearFloor(task=TASK, reason="n/a: all training samples have one class")
    found = floors_of(runs_of("dfa", 0.7), missing, CHANCE)
    assert (found.above_linear, found.lines) == ({}, {})
    assert floors_of(runs_of("dfa", 0.7), None, CHANCE) is None


def test_floors_are_what_is_written_and_read():
    study = make_study(*runs_of("dfa", 0.7, 0.6), linear_floor=LINEAR)
    found = study.floors
    assert Floors.model_validate_json(found.model_dump_json()) == found
    assert study.ladder().floors == found
