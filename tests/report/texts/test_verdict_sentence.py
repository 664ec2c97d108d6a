"""Why a rule got its verdict, in a sentence for somebody who has never seen the project."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report.studies import audited_study, make_floors, make_pairs, make_study, trained_study

from depthgauge.report.texts.verdict_sentence import CLAIMS, blocks_clause, verdict_sentence


def test_a_rule_that_trains_the_depth_says_how_many_blocks_and_over_what():
    assert verdict_sentence(audited_study()["bp"]) == (
        "bp trains the depth: 2 of 2 blocks gain accuracy, over leaving them untrained, and over "
        "training them on noise."
    )


def test_a_rule_that_is_walked_back_says_what_fired_and_that_a_line_does_as_well():
    sentence = verdict_sentence(audited_study()["dfa"], make_floors())
    assert sentence.startswith(
        "dfa is not shown to train the depth: one block multiplies the activations by 705 "
    )
    assert "(alarm D1); training the blocks changes accuracy by " in sentence
    assert sentence.endswith("it is not shown to beat a linear classifier of the input.")


def test_a_shallow_rule_is_held_beside_backpropagation():
    study = audited_study()
    deep = study["bp"]
    depth = replace(deep.used_depth, value=1, low=1, high=1, bp=deep.used_depth, is_bp=False)
    verdict = replace(deep.verdict, word="shallow")
    rule = replace(deep, label="mine", used_depth=depth, verdict=verdict)
    assert verdict_sentence(rule) == (
        "mine trains fewer blocks than bp: 1 of 2 blocks gains accuracy; with bp, 2 of 2 blocks "
        "gain accuracy."
    )


@pytest.mark.parametrize(
    ("seeds", "value", "low", "high", "words"),
    [
        (3, 2, 2, 2, "2 of 2 blocks gain accuracy"),
        (3, 1, 1, 1, "1 of 2 blocks gains accuracy"),
        (3, 2, 1, 2, "2 of 2 blocks gain accuracy, at least 1 of them for sure"),
        (3, 1, 0, 2, "between 0 and 2 of 2 blocks gain accuracy: 3 seeds do not tell"),
        (2, 1, 0, 2, "two seeds are too few to count the blocks that gain accuracy"),
        (1, 1, 0, 2, "1 of 2 blocks gains accuracy in the one seed"),
    ],
)
def test_how_many_blocks_and_how_sure(seeds, value, low, high, words):
    depth = audited_study()["bp"].used_depth
    found = replace(depth, seeds=seeds, value=value, low=low, high=high, rungs_in_use=value)
    assert blocks_clause(found) == words


def test_depth_that_was_not_tested_says_why():
    alone = make_study(*make_pairs("dfa", (0.3, 0.31, 0.32)))
    assert "(no frozen" not in verdict_sentence(alone["dfa"])
    assert "its depth was not tested: too few rungs of its ladder" in verdict_sentence(alone["dfa"])
    ladder = trained_study()["bp"]
    verdict = replace(ladder.verdict, word="no alarm, depth untested")
    depth = replace(ladder.used_depth, is_bp=False)
    sentence = verdict_sentence(replace(ladder, verdict=verdict, used_depth=depth))
    assert "bp was not trained with a ladder of its own" in sentence


def test_every_word_has_its_claim():
    rule = audited_study()["bp"]
    for word, claim in CLAIMS.items():
        verdict = replace(rule.verdict, word=word)
        assert verdict_sentence(replace(rule, verdict=verdict)).startswith(f"bp {claim}")


def test_a_rung_that_is_better_than_the_whole_network_is_told():
    study = audited_study()
    rule = study["dfa"]
    worse = replace(rule, used_depth=replace(study["bp"].used_depth, worse_than=0))
    before = f"no block trained ({100 * rule.frozen.mean:.1f} %) is better than all 2 trained"
    assert before in verdict_sentence(worse)
    worse = replace(rule, used_depth=replace(study["bp"].used_depth, worse_than=1))
    assert "the last block trained alone is better than all 2 trained" in verdict_sentence(worse)
    assert "is better than" not in verdict_sentence(study["bp"])
