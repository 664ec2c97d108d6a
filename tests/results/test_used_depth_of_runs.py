"""From the runs on disk to used depth: every run counts where it belongs, and lost ones as said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from results.written_ladders import (
    BP,
    BP_TWINS,
    CHANCE,
    ONE_BLOCK,
    ONE_BLOCK_TWINS,
    SEEDS,
    TWO_BLOCKS,
    TWO_BLOCKS_TWINS,
    WrittenLadders,
)

import depthgauge as dg
from depthgauge.config import Intervention
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.results.run import RunResult
from depthgauge.results.used_depth_of_runs import ladder_scores, used_depths
from depthgauge.verdict.rung_comparisons import LadderScores

ALONE, ON_NOISE = Intervention(frozen=(1, 3)), Intervention(swapped=(1, 3))
SAMPLES = 50


def runs_of(made: WrittenLadders, label: str = "dfa") -> list[RunResult]:
    return [run for run in made.load().runs if run.label == label]


def scores(made: WrittenLadders, label: str = "dfa") -> LadderScores:
    found = ladder_scores(runs_of(made, label), CHANCE)
    assert found is not None
    return found


def depths(made: WrittenLadders) -> dict[str, UsedDepth]:
    labels = dict.fromkeys(run.label for run in made.load().runs)
    return used_depths({label: runs_of(made, label) for label in labels}, CHANCE)


def answers(share: float, seed: int) -> np.ndarray:
    """Which samples a network names rightly that is right about this share."""
    return np.random.default_rng(seed).random(SAMPLES) < share


@pytest.fixture
def made(tmp_path: Path) -> WrittenLadders:
    """Backpropagation, and a rule of which blocks 0 and 2 are worth something."""
    ladders = WrittenLadders(tmp_path / "study", "bp", "dfa")
    ladders.ladder("bp", BP, BP_TWINS)
    ladders.ladder("dfa", TWO_BLOCKS, TWO_BLOCKS_TWINS)
    return ladders


# Which run is what


def test_rungs_twins_confirming_runs_and_noise_runs_are_told_apart(made):
    made.end(made.runs("dfa", 4, ALONE), 60.0)
    made.end(made.runs("dfa", 4, ON_NOISE), 58.0)
    found = scores(made)
    assert sorted(found.rungs) == [0, 1, 2, 3, 4]
    assert sorted(found.twins) == [2, 4]
    parts = [*found.rungs.items(), *found.twins.items()]
    expected = [*enumerate(TWO_BLOCKS), *TWO_BLOCKS_TWINS.items()]
    for (k, got), (expected_k, points) in zip(parts, expected, strict=True):
        assert k == expected_k
        assert list(got.accuracies) == list(SEEDS)
        assert got.accuracies == pytest.approx(dict.fromkeys(SEEDS, points / 100), abs=0.002)
    for got, points in ((found.confirming, 60.0), (found.rest_on_noise, 58.0)):
        assert got.accuracies == pytest.approx(dict.fromkeys(SEEDS, points / 100), abs=0.002)


def test_used_depth_is_that_of_the_same_numbers_as_arrays(made):
    made.end(made.runs("dfa", 4, ALONE), 65.2)
    found = scores(made)
    of_bp = scores(made, "bp")
    bp, own = (
        dg.used_depth(
            {k: dict(rung.accuracies) for k, rung in ladder.rungs.items()},
            twins={k: dict(twin.accuracies) for k, twin in ladder.twins.items()},
            confirming=ladder.confirming and dict(ladder.confirming.accuracies),
            bp=bp,
        )
        for ladder, bp in ((of_bp, None), (found, depths(made)["bp"]))
    )
    assert depths(made) == {"bp": bp, "dfa": own}
    assert (own.low, own.high, own.earning_blocks, own.bp) == (2, 2, (0, 2), bp)


@pytest.mark.parametrize(
    ("k", "other"),
    [
        (4, Intervention(frozen=(1,))),  # blocks 0, 2 and 3 trained: one too many
        (4, Intervention(frozen=(0, 1, 3))),  # one too few
        (4, Intervention(frozen=(1, 2, 3))),  # another one
        (4, Intervention(swapped=(1,), frozen=(3,))),  # neither alone nor with noise for the rest
        (4, Intervention(swapped=(0, 1, 3))),  # an earning block on noise
        (3, Intervention(swapped=(1, 3))),  # not the whole network
    ],
)
def test_runs_that_answer_another_question_do_not_confirm(made, k, other):
    """As after more seeds, when other blocks earn than those that were confirmed before."""
    made.end(made.runs("dfa", k, other), 65.1)
    found = scores(made)
    assert (found.confirming, found.rest_on_noise) == (None, None)
    assert depths(made)["dfa"].high == 4


def test_the_twin_of_a_rung_belongs_to_the_rung_below_it(tmp_path):
    """With another rung between them, what the old twin had on noise is no longer one rung."""
    skipped = WrittenLadders(tmp_path / "study", "bp", ks=(0, 2, 4))
    skipped.ladder("bp", (27.1, 64.8, 71.2), {2: 40.0, 4: 66.0})
    assert sorted(scores(skipped, "bp").twins) == [2, 4]
    assert skipped.load()["bp"].twins[0].k == 2
    whole = WrittenLadders(tmp_path / "study", "bp")
    whole.end([*whole.runs("bp", 1), *whole.runs("bp", 3)], 60.0)
    assert scores(whole, "bp").twins == {}
    assert whole.load()["bp"].twins == ()


@pytest.mark.parametrize("missing", [0, 4])
def test_without_frozen_blocks_or_the_whole_network_there_is_no_ladder(tmp_path, missing):
    made = WrittenLadders(tmp_path / "study", "dfa")
    for k in set(range(5)) - {missing}:
        made.end(made.runs("dfa", k), TWO_BLOCKS[k])
    assert ladder_scores(runs_of(made), CHANCE) is None
    assert depths(made) == {}
    assert made.load()["dfa"].used_depth is None
    made.end(made.runs("dfa", missing), TWO_BLOCKS[missing])
    assert depths(made)["dfa"].blocks == 4


def test_a_network_without_blocks_and_a_rule_without_runs_have_none(tmp_path):
    assert ladder_scores([], CHANCE) is None
    assert used_depths({"dfa": []}, CHANCE) == {}
    made = WrittenLadders(tmp_path / "study", "bp[shallow]")
    made.end([run for run in made.grid.runs() if run.k == 0], 30.0)
    assert ladder_scores(runs_of(made, "bp[shallow]"), CHANCE) is None


# What was lost


def test_a_run_that_diverged_is_worth_chance_and_has_all_samples_wrong(tmp_path):
    """Who leaves it out would say that a rule which explodes every other time is fine."""
    made = WrittenLadders(tmp_path / "study", "dfa")
    right = {seed: answers(0.6, seed) for seed in SEEDS}
    for k in range(5):
        first, *others = made.runs("dfa", k)
        for run in others:
            made.end_with(run, right[run.seed])
        if k < 4:
            made.end_with(first, right[first.seed])
        else:
            made.diverge([first])
    found = scores(made).full
    assert found.accuracies == {1: CHANCE, 2: right[2].mean(), 3: right[3].mean()}
    assert found.samples == SAMPLES
    assert set(found.right) == set(SEEDS)
    assert not found.right[1].any()
    assert found.right[2].tolist() == right[2].tolist()
    # nobody knows what chance is: it is missing
    assert set(ladder_scores(runs_of(made), None).full.accuracies) == {2, 3}


def test_a_rung_of_which_every_run_diverged_is_worth_chance(tmp_path):
    lost = WrittenLadders(tmp_path / "lost", "dfa")
    for k in range(4):
        lost.end(lost.runs("dfa", k), TWO_BLOCKS[k])
    lost.diverge(lost.runs("dfa", 4))
    found = scores(lost)
    assert found.full.accuracies == dict.fromkeys(SEEDS, CHANCE)
    assert (found.full.right, found.full.samples) == ({}, None)
    assert depths(lost)["dfa"].worse_than == 2


@pytest.mark.parametrize("lost", ["failed", "not ended", "never begun"])
def test_a_run_that_failed_or_has_not_ended_is_missing_and_others_are_compared(tmp_path, lost):
    made = WrittenLadders(tmp_path / "study", "dfa", seeds=(1, 2, 3, 4))
    for k in range(5):
        first, *others = made.runs("dfa", k)
        made.end(others if k == 2 else [first, *others], TWO_BLOCKS[k])
        if k == 2 and lost == "failed":
            made.fail([first])
        elif k == 2 and lost == "not ended":
            made.begin(first)
    found = scores(made)
    assert [len(found.rungs[k].accuracies) for k in range(5)] == [4, 4, 3, 4, 4]
    assert 1 not in found.rungs[2].accuracies
    compared = [
        found.rungs[2].accuracies[seed] - found.rungs[0].accuracies[seed] for seed in (2, 3, 4)
    ]
    assert found.over_lower[2][0].mean == pytest.approx(np.mean(compared))


def test_twins_that_all_failed_are_no_twins(tmp_path):
    lost = WrittenLadders(tmp_path / "lost", "dfa")
    lost.ladder("dfa", TWO_BLOCKS, {2: 27.1})
    lost.fail(lost.twins("dfa", 4))
    assert sorted(scores(lost).twins) == [2]
    assert depths(lost)["dfa"].earning_blocks == (2,)


# What is known of the samples


def test_which_samples_were_right_is_taken_from_the_results(tmp_path):
    made = WrittenLadders(tmp_path / "study", "dfa")
    kept: dict[tuple[int, int], np.ndarray] = {}
    shares = (0.3, 0.3, 0.6, 0.6, 0.8)
    for k, share in enumerate(shares):
        for run in made.runs("dfa", k):
            kept[k, run.seed] = answers(share, 100 * k + run.seed)
            made.end_with(run, kept[k, run.seed])
    found = scores(made)
    for (k, seed), flags in kept.items():
        assert found.rungs[k].right[seed].tolist() == flags.tolist()
        assert found.rungs[k].accuracies[seed] == pytest.approx(flags.mean())
        assert found.rungs[k].samples == SAMPLES


def test_results_of_earlier_versions_do_without(made):
    for rung in scores(made).rungs.values():
        assert (rung.right, rung.samples) == ({}, None)


# Held against backpropagation


def reference(found: dict[str, UsedDepth], label: str) -> UsedDepth | None:
    return found[label].bp


def test_every_rule_is_held_against_backpropagation_and_it_against_nothing(made):
    found = depths(made)
    assert reference(found, "dfa") == found["bp"]
    assert reference(found, "bp") is None
    assert (found["bp"].is_bp, found["dfa"].is_bp) == (True, False)
    assert found["dfa"].delta == found["bp"].delta == 0.005
    assert made.load()["dfa"].used_depth == found["dfa"]


def test_with_several_settings_of_backpropagation_the_most_accurate_one_counts(tmp_path):
    best = "bp[learning_rate=0.01]"
    made = WrittenLadders(tmp_path / "study", "bp", best, "bp[penalty=0.1]", "dfa")
    made.ladder("bp", BP, BP_TWINS)
    made.ladder(best, (27.1, 57, 66, 70, 73), dict.fromkeys((1, 2, 3, 4), 28.0))
    made.ladder("bp[penalty=0.1]", ONE_BLOCK, ONE_BLOCK_TWINS)
    made.ladder("dfa", TWO_BLOCKS, TWO_BLOCKS_TWINS)
    found = depths(made)
    assert reference(found, "dfa") == found[best]
    assert [reference(found, label) for label in ("bp", best, "bp[penalty=0.1]")] == [None] * 3


def test_under_a_control_backpropagation_under_the_same_control_counts(tmp_path):
    rules = ("bp", "bp[no_norm]", "dfa", "dfa[no_norm]", "dfa[no_skip]")
    made = WrittenLadders(tmp_path / "study", *rules)
    made.ladder("bp", BP, BP_TWINS)
    made.ladder("bp[no_norm]", (27.0, 32.0, 32.0, 32.0, 32.0), {1: 27.0})
    for rule in rules[2:]:
        made.ladder(rule, TWO_BLOCKS, TWO_BLOCKS_TWINS)
    found = depths(made)
    assert reference(found, "dfa") == found["bp"]
    assert reference(found, "dfa[no_norm]") == found["bp[no_norm]"]
    assert found["dfa[no_norm]"].delta == pytest.approx(0.02 * found["bp[no_norm]"].gain)
    assert reference(found, "dfa[no_skip]") is None
    assert not found["dfa[no_skip]"].is_testable
    assert found["dfa"].is_testable


def test_what_people_read(made):
    assert [str(depth) for depth in depths(made).values()] == ["4 of 4", "2 to 4 of 4"]
    made.end(made.runs("dfa", 4, ALONE), 65.2)
    assert [str(depth) for depth in depths(made).values()] == ["4 of 4", "2 of 4"]
