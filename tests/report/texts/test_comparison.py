"""Several studies in words."""

from __future__ import annotations

import pytest
from report.study_folders import BP, SIX_EPOCHS, write_audit
from results.written_studies import change_json, change_losses, compared, write_study
from store.small_runs_on_disk import RECIPE, TASK

from depthgauge.report.texts.comparison import (
    against_sentences,
    nothing_against,
    same_rule_sentences,
    study_sentences,
)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Look, do not touch."""
    return write_study(tmp_path_factory.mktemp("one") / "short", {"bp": BP})


def test_what_a_study_is_and_where_it_comes_from(short, tmp_path):
    here = {"version": "1.0", "commit": "0123456789-dirty", "processor": "one", "device": "cpu"}
    other = write_study(tmp_path / "other", {"bp": {2: {1: 0.5, 2: 0.5}}}, **here)
    change_json(next(other.glob("runs/*/result.json")), provenance=here | {"version": "1.1"})
    sentence = study_sentences(compared(short, other))[1]
    assert sentence.startswith(
        "other: tiny, width 3, 2 blocks, 3 epochs, seeds 1, 2; runs: 2 finished; versions 1."
    )
    assert sentence.endswith(", commit 0123456-dirty, one, cpu.")


def test_a_study_without_runs(short, tmp_path):
    one = {"recipe": RECIPE.model_copy(update={"epochs": 1})}
    assert study_sentences(compared(short, write_study(tmp_path / "new", {}, **one)))[1] == (
        "new: tiny, width 3, 2 blocks, 1 epoch, no seeds; no runs yet."
    )


def test_a_study_that_is_half_done(short, tmp_path):
    other = write_study(tmp_path / "other", {"bp": {2: {1: 0.5, 2: 0.5}}})
    next(other.glob("runs/*/result.json")).unlink()
    assert study_sentences(compared(short, other))[1].endswith(
        "seeds 1, 2; runs: 1 finished, 1 stopped (not complete)."
    )


def test_networks_from_elsewhere(short, tmp_path):
    audit = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.3)}})
    both = compared(short, audit)
    assert study_sentences(both)[1] == (
        "audit: tiny, seed 1, frozen baselines given as one number for each rule; networks from "
        "elsewhere; version 1.0, one."
    )
    assert same_rule_sentences(both) == {
        "short → audit": [
            "bp: perhaps other runs: net not known, recipe not known, rule not known."
        ]
    }


def test_in_what_the_runs_of_a_rule_differ(short, tmp_path):
    changed = {0: BP[0], 2: {1: 0.7, 2: 0.7}}
    longer = write_study(tmp_path / "long", {"bp": changed}, recipe=SIX_EPOCHS)
    assert same_rule_sentences(compared(short, longer)) == {
        "short → long": [
            "bp: other runs: recipe.epochs 3 → 6; of equal k and seed 4 done in both, 2 with the "
            "same accuracy, 0 bit for bit."
        ]
    }


def test_a_checksum_is_cut_short(short, tmp_path):
    task = TASK.model_copy(update={"checksum": "1" * 64})
    other = write_study(tmp_path / "other", {"bp": {2: {1: 0.5}}}, task=task)
    ((sentence,),) = same_rule_sentences(compared(short, other)).values()
    assert sentence == "bp: other runs: task.checksum 00000000… → 11111111…."


def test_the_same_runs_and_how_alike_they_are(short, tmp_path):
    copy = write_study(tmp_path / "copy", {"bp": BP})
    assert same_rule_sentences(compared(short, copy)) == {
        "short → copy": ["bp: the same runs, 6 done in both, all the same bit for bit."]
    }
    change_losses(copy, 1.25)
    assert same_rule_sentences(compared(short, copy)) == {
        "short → copy": [
            "bp: the same runs, 6 done in both, 6 with the same accuracy, 0 bit for bit."
        ]
    }


@pytest.mark.parametrize(
    ("rungs", "words"),
    [
        ({2: {1: 0.1}}, "the same runs, 1 done in both, none with the same accuracy"),
        (
            {2: {9: 0.1}},
            "the same configuration, but no run of equal k and seed is done in both",
        ),
    ],
)
def test_the_same_configuration_with_other_results(short, tmp_path, rungs, words):
    other = write_study(tmp_path / "other", {"bp": rungs})
    assert same_rule_sentences(compared(short, other)) == {"short → other": [f"bp: {words}."]}


def test_one_sentence_for_all_rules_of_which_the_same_is_said(tmp_path):
    rungs = {2: {1: 0.5}}
    studies = [write_study(tmp_path / name, {"fa": rungs, "dfa": rungs}) for name in "ab"]
    ((sentence,),) = same_rule_sentences(compared(*studies)).values()
    rules, _, rest = sentence.partition(": ")
    assert set(rules.split(", ")) == {"fa", "dfa"}
    assert rest == "the same runs, 1 done in both, all the same bit for bit."


def test_why_a_rule_is_not_compared_with_the_reference(short, tmp_path):
    other = write_study(tmp_path / "other", {"fa": {2: {1: 0.5}}}, recipe=SIX_EPOCHS)
    assert against_sentences(compared(short, other)) == {
        "other": [
            "fa: not compared with bp: this study has no bp, and short differs in recipe.epochs "
            "3 → 6."
        ]
    }


def test_a_reference_of_which_nothing_is_measured(short, tmp_path):
    other = write_study(tmp_path / "other", {"bp": {2: {1: None}}, "fa": {2: {1: 0.5}}})
    assert against_sentences(compared(short, other)) == {
        "other": ["fa: not compared with bp: nothing has been measured for both yet."]
    }


def test_a_rule_that_is_compared_needs_no_words(short, tmp_path):
    other = write_study(tmp_path / "other", {"fa": BP})
    assert against_sentences(compared(short, other)) == {"other, against bp of short": []}


def test_nothing_at_all_to_compare_with_the_reference(short, tmp_path):
    bp = write_study(tmp_path / "bp", {"bp": BP})
    assert nothing_against(compared(short, bp)) == "The studies have no rule but bp."
    studies = [write_study(tmp_path / name, {"fa": {2: {1: 0.5}}}) for name in "ab"]
    assert nothing_against(compared(*studies)) == (
        "None of the studies has bp; choose another rule with --to."
    )
