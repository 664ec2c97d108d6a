"""Used depth in sentences: what a rule trains, what it does not, and what stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from report.studies import CLIMB, audited_study, make_ladder

import depthgauge as dg
from depthgauge.report.texts.audit import audit_sentences
from depthgauge.report.texts.ladder import ladder_sentences
from depthgauge.report.texts.used_depth import depth_sentences

CLOSE = (-0.1, 0.0, 0.1)
"""Points by which the seeds of a rung differ."""
LADDER = (27.1, 55.7, 64.8, 69.2, 71.2)
ON_NOISE = {1: 29.3, 2: 53.2, 3: 61.5, 4: 66.8}


def depth_of(
    means: Sequence[float],
    twins: Mapping[int, float] | None = None,
    *,
    apart: Sequence[float] = CLOSE,
    ks: Sequence[int] = (0, 1, 2, 3, 4),
) -> dg.UsedDepth:
    """From mean accuracies in points; the seeds of a rung are so far apart."""
    ladder = {
        k: [(mean + (-1) ** k * off) / 100 for off in apart]
        for k, mean in zip(ks, means, strict=True)
    }
    on_noise = {k: [(mean + off) / 100 for off in apart] for k, mean in (twins or {}).items()}
    return dg.used_depth(ladder, twins=on_noise)


def test_without_a_ladder_there_is_nothing_to_say():
    assert depth_sentences("bp", None) == []


def test_where_every_block_earns_it_is_one_sentence():
    (sentence,) = depth_sentences("bp", depth_of(LADDER, ON_NOISE))
    assert sentence == "bp trains 4 of 4 blocks."


def test_training_more_than_one_block_is_said_to_be_worse_first():
    """The ladder of feedback alignment on digits: whoever trains all of it loses nine points."""
    fa = depth_of((25.5, 61.3, 59.8, 57.4, 52.3), {1: 29.0})
    assert depth_sentences("fa", fa) == [
        "Training all 4 blocks with fa is shown to be worse than training the last 1 block. "
        "fa trains 1 of 4 blocks (block 3).",
        "fa: block 2 does harm (−1.5 points); block 1 does harm (−3.9 points); block 0 does harm "
        "(−9.0 points).",
    ]


def test_worse_than_frozen_blocks_is_worse_than_training_none():
    first = depth_sentences("dfa", depth_of((35, 33, 31, 29, 24)))[0]
    assert first.startswith(
        "Training all 4 blocks with dfa is shown to be worse than training none. dfa trains 0 "
    )


def test_a_block_that_gains_no_more_than_on_noise_is_said_to():
    """Random features that grow are better features: that is not learning."""
    climbing = (27.1, 29.1, 30.1, 31.1, 32.1)
    noise = dict(enumerate(climbing[1:], start=1))
    first, why = depth_sentences("noise", depth_of(climbing, noise))
    assert first == "noise trains 0 to 4 of 4 blocks."
    assert why == (
        "noise: block 3 adds +2.0 points, and noise adds as much; block 2 adds +1.0 points, and "
        "noise adds as much; block 1 adds +1.0 points, and noise adds as much; block 0 adds +1.0 "
        "points, and noise adds as much."
    )


def test_a_rung_without_a_twin_is_said_not_to_have_been_held_against_noise():
    _, why = depth_sentences("bp", depth_of(LADDER, {k: ON_NOISE[k] for k in (1, 2, 3)}))
    assert why == "bp: block 0 adds +2.0 points, and was not compared with noise."


def test_a_gain_that_seeds_do_not_show_is_open():
    wide = depth_of((27.1, 55.7, 64.8, 69.2, 71.2), ON_NOISE, apart=(-2.5, 0.0, 2.5))
    _, why = depth_sentences("bp", wide)
    assert why.endswith("block 0 adds +2.0 points, but there are too few seeds to show it.")


def test_a_gain_of_next_to_nothing_is_neither_use_nor_harm():
    _, why = depth_sentences("bp", depth_of((27, 56, 56.2, 55.8, 56.3), {1: 29.0}))
    assert why == (
        "bp: block 2 adds nothing (+0.2 points); block 1 adds nothing (−0.4 points); block 0 adds "
        "nothing (+0.1 points)."
    )


def test_a_rung_that_adds_several_blocks_names_them():
    skipped = depth_of((27, 56, 50), {1: 29.0}, ks=(0, 1, 4))
    assert depth_sentences("fa", skipped)[1] == "fa: blocks 0, 1, 2 do harm (−6.0 points)."


def test_two_seeds_are_said_to_be_too_few_and_no_block_is_accused():
    assert depth_sentences("bp", depth_of(LADDER, ON_NOISE, apart=(-0.1, 0.1))) == [
        "bp: two seeds are too few to say how many blocks it trains."
    ]


def test_one_seed_is_said_to_be_all_there_is():
    first, *_ = depth_sentences("bp", depth_of(LADDER, ON_NOISE, apart=(0.0,)))
    assert first == "bp trains 4 of 4 blocks by one seed alone."


def test_audits_and_ladders_begin_with_it():
    depth = dg.used_depth(CLIMB, twins={1: (0.33,) * 3, 2: (0.56,) * 3})
    ladder = make_ladder({"bp": CLIMB}, used_depth={"bp": depth}, blocks=2)
    assert ladder_sentences(ladder)[0] == "bp trains 2 of 2 blocks."
    words = audit_sentences(audited_study())
    assert words[0] == "bp trains 2 of 2 blocks."
    assert words[1].startswith("bp D1 passes: ")
