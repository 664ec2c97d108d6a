"""Our words, in the order of the protocol: only depth that is shown to be used is trustworthy."""

from __future__ import annotations

import pytest
from verdict.example_ladders import BP, BP_TWINS, bp_depth, depth
from verdict.simulated_seeds import DEGENERATE, HEALTHY, changed

import depthgauge as dg
from depthgauge.diagnostics.used_depth import UsedDepth, in_words
from depthgauge.verdict.rung_comparisons import LadderScores, scores_of
from depthgauge.verdict.used_depth import find_used_depth
from depthgauge.verdict.words import BAD_WORDS


def word(found: UsedDepth | None, seeds: int = 3, reading=HEALTHY) -> str:
    return dg.judge([reading] * seeds, used_depth=found).word


def test_without_a_ladder_only_the_published_protocol_says_trustworthy():
    verdict = dg.judge([HEALTHY] * 3)
    assert verdict.word == "no alarm, depth untested"
    assert verdict.published.word == "trustworthy"
    assert dg.judge([HEALTHY] * 3, protocol="published").word == "trustworthy"


def test_backpropagation_that_uses_its_depth_is_trustworthy():
    assert word(bp_depth()) == "trustworthy"


def test_an_alarm_comes_first():
    shallow = depth((27, 56, 56, 56, 56), {1: 29}, bp=bp_depth())
    assert word(shallow, reading=DEGENERATE) == "walk back"


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_one_trained_block_of_four_is_shallow(seeds):
    bp = bp_depth(seeds)
    found = depth((27, 56, 55, 53, 51), {1: 29}, bp=bp, seeds=seeds)
    assert (found.rungs_in_use, bp.rungs_in_use) == (1, 4)
    assert word(found, seeds) == "shallow"
    assert {"shallow", "walk back"} == BAD_WORDS


def test_a_ladder_that_climbs_like_its_noise_is_not_trustworthy():
    climbing = (27.1, 29.1, 30.1, 30.5, 31.0)
    found = depth(climbing, dict(enumerate(climbing[1:], 1)), bp=bp_depth(10), seeds=10)
    assert found.low == 0
    assert word(found, 10) != "trustworthy"


def test_as_many_blocks_as_backpropagation_are_trustworthy_and_one_fewer_is_not():
    twins = dict(enumerate(BP_TWINS, 1))
    assert word(depth(BP, twins, bp=bp_depth(6), seeds=6, first=1), 6) == "trustworthy"
    three = depth((27.1, 55.7, 64.8, 69.2, 69.2), twins, bp=bp_depth(6), seeds=6, first=1)
    assert word(three, 6) in ("shallow", "inconclusive")


def test_where_backpropagation_uses_one_block_depth_is_untested():
    bp = depth((27, 56, 56, 56, 56), {1: 29})
    assert word(bp) == "no alarm, depth untested"
    assert word(depth((27, 56, 56, 56, 56), {1: 29}, bp=bp)) == "no alarm, depth untested"


def test_a_ladder_of_two_rungs_is_too_short_for_four_blocks():
    twins = {4: 30.0}
    bp = depth((27, 71), twins, k=(0, 4))
    assert (bp.value, bp.rungs_in_use) == (None, 1)
    assert word(bp) == "no alarm, depth untested"


def test_two_seeds_are_too_few():
    bp = bp_depth(2)
    assert str(bp) == "too few seeds"
    assert word(bp, 2) == "no alarm, depth untested"
    assert in_words(bp) == "two seeds are too few to say how many blocks it trains"


def test_an_inconclusive_verdict_names_the_open_rungs():
    open_rung = depth((27, 56, 60, 60.4, 60.8), {1: 29, 2: 50, 4: 60.5}, bp=bp_depth())
    verdict = dg.judge([HEALTHY] * 3, used_depth=open_rung)
    assert verdict.word == "inconclusive"
    assert str(verdict) == "inconclusive (k = 3, 4 open: more seeds needed)"
    unclear = [changed(HEALTHY, growth=growth) for growth in (30.0, 50.0, 80.0)]
    assert dg.judge(unclear, used_depth=bp_depth()).word == "inconclusive"


def test_d3_counts_the_noise_of_the_evaluation_set():
    gain = changed(HEALTHY, depth_gain=0.012)
    noisy = changed(gain, depth_gain_noise=0.019)
    assert dg.judge([gain]).word == "walk back"
    verdict = dg.judge([noisy])
    assert verdict.finding("D3").straddles
    assert verdict.finding("D3").more_seeds is None
    assert verdict.published.word == "walk back"
    clear = changed(HEALTHY, depth_gain=-0.05, depth_gain_noise=0.01)
    assert dg.judge([clear]).word == "walk back"


def test_a_rule_without_backpropagation_beside_it_is_untested():
    twins = {k: [x / 100] * 3 for k, x in enumerate(BP_TWINS, 1)}
    ladder = LadderScores(
        {k: scores_of([x / 100 + 0.001 * s for s in range(3)]) for k, x in enumerate(BP)},
        {k: scores_of(values) for k, values in twins.items()},
    )
    assert word(find_used_depth(ladder)) == "trustworthy"
    assert word(find_used_depth(ladder, is_bp=False)) == "no alarm, depth untested"
