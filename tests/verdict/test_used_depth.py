"""Used depth: `low` counts only blocks that are in use, and `high` all that may be."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import used_depth as oracle

import depthgauge as dg
from depthgauge.errors import UserError
from depthgauge.verdict.rung_comparisons import LadderScores, scores_of
from depthgauge.verdict.used_depth import twins_needed

BP = (27.1, 55.7, 64.8, 69.2, 71.2)
BP_TWINS = (29.3, 53.2, 61.5, 66.8)


def around(means, seeds=3, spread=0.4, seed=0, first=0):
    """Return the accuracies of several seeds around means in points, by k from `first`."""
    drawn = np.random.default_rng(seed).normal(0, spread / 100, (len(means), seeds))
    return {first + k: list(mean / 100 + drawn[k]) for k, mean in enumerate(means)}


def backpropagation(seeds=3):
    return dg.used_depth(around(BP, seeds), twins=around(BP_TWINS, seeds, seed=1, first=1))


@pytest.mark.parametrize("case", range(40))
def test_used_depth_equals_that_of_the_slow_oracle(case):
    rng = np.random.default_rng(case)
    means = 30 + np.cumsum(rng.choice([-2, 0, 0.3, 1, 5], 5))
    ladder = around(means, rng.integers(3, 8), rng.choice([0.1, 0.6, 2]), case)
    whole = {k: np.clip(values, 0, 1).tolist() for k, values in ladder.items()}
    twins = {k: [x - rng.choice([-0.01, 0.005, 0.03]) for x in whole[k]] for k in range(1, 5)}
    lacking = {k: own for k, own in twins.items() if rng.random() < 0.8}
    alone = [x - rng.choice([0, 0.02]) for x in whole[4]] if case % 2 else None
    noise = [x - 0.001 * rng.random() for x in whole[4]] if case % 3 else None
    used = dg.used_depth(whole, twins=lacking, confirming=alone, rest_on_noise=noise)
    expected = oracle.used_depth(whole, lacking, alone, noise, used.delta)
    assert (used.value, used.low, used.high, used.gaining) == expected


@pytest.mark.parametrize("samples", [None, 300])
def test_the_noise_of_the_evaluation_set_counts(samples):
    rng = np.random.default_rng(5)
    bits = {k: rng.random((4, 300)) < share for k, share in {0: 0.5, 1: 0.56}.items()}
    noise = rng.random((4, 300)) < 0.5
    ladder, twins = {k: b.mean(1) for k, b in bits.items()}, {1: noise.mean(1)}
    given = {"bits": {"accuracies": bits, "twins": {1: noise}}} if samples is None else {}
    used = dg.used_depth(ladder, twins=twins, samples=samples, **given)
    expected = max(
        oracle.p_above(
            ladder[1], other, bits=(bits[1], theirs) if samples is None else None, samples=samples
        )
        for other, theirs in ((ladder[0], bits[0]), (twins[1], noise))
    )
    agree = all((np.array(ladder[1]) > other).all() for other in (ladder[0], twins[1]))
    assert used.rungs[0].p == pytest.approx(expected if agree else 1.0, rel=1e-9)


def test_backpropagation_uses_all_its_blocks():
    used = backpropagation()
    assert (used.value, used.low, used.high, str(used)) == (4, 4, 4, "4 of 4")
    assert used.gaining == 4
    assert used.bp is None


@pytest.mark.parametrize(
    ("means", "twins", "low"),
    [
        ((27.1, 55.7, 55.7, 55.7, 55.7), {1: 29.3}, 1),
        ((27.1, 27.1, 27.1, 27.1, 56.0), {4: 27.1}, 1),
        ((27.1, 27.1, 57.0, 57.0, 65.1), {2: 27.1, 4: 57.0}, 2),
    ],
)
def test_blocks_without_credit_are_not_in_use(means, twins, low):
    # no credit: the very same networks, so no spread between those rungs
    drawn = np.random.default_rng(3).normal(0, 0.004, 3)
    ladder = {k: list(mean / 100 + drawn * (1 + mean % 1)) for k, mean in enumerate(means)}
    noise = {k: list(mean / 100 + drawn[::-1]) for k, mean in twins.items()}
    alone = ladder[4]
    used = dg.used_depth(ladder, twins=noise, confirming=alone, bp=backpropagation())
    assert (used.value, used.low, used.high) == (low, low, low)
    assert used.earning_blocks == tuple(sorted(4 - k for k in twins))


def test_a_ladder_that_climbs_like_its_noise_earns_nothing():
    climb = (27.1, 29.1, 30.1, 30.5, 31.0)
    used = dg.used_depth(
        around(climb, 10), twins=around(climb[1:], 10, seed=2, first=1), bp=backpropagation()
    )
    assert used.low == 0


def test_a_whole_network_below_one_of_its_rungs_is_told():
    ladder = around((25.5, 61.3, 59.8, 57.4, 52.3))
    used = dg.used_depth(ladder, twins={1: [0.29, 0.29, 0.3]}, bp=backpropagation())
    assert (used.low, used.high, used.worse_than) == (1, 1, 1)
    assert backpropagation().worse_than is None


def test_blocks_that_help_only_together_ask_for_a_confirming_run():
    ladder = around((27, 27, 27, 27, 95), spread=0.3)
    twins = {4: [0.28, 0.27, 0.28]}
    open_ = dg.used_depth(ladder, twins=twins, bp=backpropagation())
    assert (open_.low, open_.high, open_.needs_confirming) == (1, 4, True)
    enough = dg.used_depth(ladder, twins=twins, confirming=ladder[4], bp=backpropagation())
    assert (enough.low, enough.high) == (1, 1)
    too_little = [0.3, 0.3, 0.31]
    assert dg.used_depth(ladder, twins=twins, confirming=too_little).high == 4


def test_skipped_rungs_give_a_range():
    means = {0: 30, 1: 50, 2: 60, 4: 70, 8: 70}
    drawn = around(list(means.values()))
    ladder = dict(zip(means, drawn.values(), strict=True))
    twins = {k: [x - 0.1 for x in ladder[k]] for k in (1, 2, 4)}
    ladder[8] = ladder[4]
    used = dg.used_depth(ladder, twins=twins)
    assert (used.value, used.low, used.high, str(used)) == (None, 3, 4, "3 to 4 of 8")
    assert [rung.blocks for rung in used.rungs] == [(7,), (6,), (4, 5), (0, 1, 2, 3)]


def test_few_seeds():
    one = {k: values[:1] for k, values in around(BP).items()}
    assert str(dg.used_depth(one)) == "4 of 4 (single seed)"
    two = {k: values[:2] for k, values in around(BP).items()}
    assert (str(dg.used_depth(two)), dg.used_depth(two).low) == ("too few seeds", 0)


def test_with_five_seeds_or_fewer_every_single_one_must_agree():
    frozen, rung = [0.30] * 5, [0.50, 0.50, 0.50, 0.50, 0.299]
    assert not dg.used_depth({0: frozen, 1: rung}, twins={1: frozen}).rungs[0].earns
    assert dg.used_depth({0: frozen * 2, 1: rung * 2}, twins={1: frozen * 2}).rungs[0].earns


def test_accuracies_without_spread_are_compared_as_numbers():
    used = dg.used_depth({0: [0.3] * 3, 1: [0.5] * 3, 2: [0.5] * 3}, twins={1: [0.4] * 3})
    assert (used.low, used.high, str(used)) == (1, 1, "1 of 2")


def test_a_comparison_uses_the_seeds_that_have_both():
    ladder = {0: {1: 0.3, 2: 0.31, 3: 0.3, 4: 0.3}, 1: {1: 0.5, 2: 0.5, 4: 0.51, 9: 0.2}}
    used = dg.used_depth(ladder, twins={1: {1: 0.4, 2: 0.41, 4: 0.4}})
    assert used.rungs[0].gain == pytest.approx((0.2 + 0.19 + 0.21) / 3)
    assert used.rungs[0].over_noise == pytest.approx((0.1 + 0.09 + 0.11) / 3)


def test_twins_are_needed_only_where_they_can_change_the_result():
    def needed(means):
        rungs = {k: scores_of(values) for k, values in around(means, spread=0.2).items()}
        return twins_needed(LadderScores(rungs, {}))

    assert needed(BP) == [1, 2, 3, 4]
    assert needed((25.5, 61.3, 59.8, 57.4, 52.3)) == [1]
    assert needed((35, 24, 28, 29, 30)) == []


def test_accuracies_that_are_no_ladder_are_refused():
    with pytest.raises(UserError, match="k = 0"):
        dg.used_depth({1: [0.3], 2: [0.4]})
    with pytest.raises(UserError, match=r"55\.5"):
        dg.used_depth({0: [0.3], 1: [55.5]})
    with pytest.raises(UserError, match="3 seeds"):
        dg.used_depth(
            {0: [0.3] * 3, 1: [0.4] * 3}, bits={"accuracies": {0: np.zeros((2, 9), dtype=bool)}}
        )


def test_a_rung_that_is_no_better_than_its_twin_is_not_used_by_backpropagation():
    # the last rung gains 2 points, and so does its twin
    twins = {**around(BP_TWINS, 5, seed=1, first=1), 4: [0.712, 0.716, 0.708, 0.711, 0.713]}
    bp = dg.used_depth(around(BP, 5), twins=twins, rest_on_noise=twins[4])
    assert (bp.low, bp.high, bp.gaining, str(bp)) == (3, 3, 3, "3 of 4")
    alike = dg.used_depth(around(BP, 5, seed=7), twins=twins, rest_on_noise=twins[4], bp=bp)
    assert (alike.is_shallow, alike.is_deep) == (False, True)


def test_three_blocks_are_not_enough_while_backpropagation_may_use_four():
    ladder = around((38.9, 56.5, 59.8, 60.8, 61.2), 3, 0.3, seed=4)
    twins = {k: [x - 0.02 for x in ladder[k - 1]] for k in range(1, 5)}
    bp = dg.used_depth(ladder, twins=twins)
    assert (bp.value, bp.rungs_possible) == (3, 4)
    three = around((38.9, 56.5, 59.8, 60.8, 60.8), 3, 0.1)
    three[4] = three[3]
    used = dg.used_depth(
        three, twins={k: [x - 0.02 for x in three[k - 1]] for k in (1, 2, 3)}, bp=bp
    )
    assert (used.low, used.is_deep, used.is_shallow) == (3, False, False)
