"""The words at the top of the page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import pytest
from report.studies import CLIMB, ON_NOISE
from report.study_folders import DEAD, GOOD, write_audit, write_whole_study
from results.written_studies import put_plan, write_study
from store.small_runs_on_disk import run_config, started

from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import Interval
from depthgauge.report.texts.page_verdicts import answer, evidence, shown_word
from depthgauge.report.texts.study import dates_of, identity, state_of_study, versions_of
from depthgauge.report.texts.verdict_words import MEANINGS
from depthgauge.results.load import load
from depthgauge.results.rule import RuleResult
from depthgauge.results.spread import Spread
from depthgauge.store.study_folder import StudyFolder
from depthgauge.verdict.judge import Verdict, judge
from depthgauge.verdict.used_depth_of_arrays import used_depth
from depthgauge.verdict.words import BAD_WORDS, Word

CALM = {"growth": 1.1, "gradient": 0.2, "error_share": 0.2, "numerics": 1.0}


def rule(word: str = "trustworthy", label: str = "bp", n: int = 3, **more: Any) -> RuleResult:
    """A rule of which nothing but its word is known, and over how many seeds it is."""
    ends = {"growth": Interval(1.0, 1.1, 1.2, n)}
    findings = () if word in ("no blocks", "not judged") else (Finding("D1", "passes", ends, ""),)
    nothing = Spread(None, None, 0)
    about = {"control": None, "verdict": Verdict(word, findings, n)} | more
    return RuleResult(
        label, basis="audit", accuracy=nothing, frozen=nothing, networks=(), ladder=(), **about
    )


def judged(*seeds: dict[str, Any], bp_gain: float | None = 0.3) -> RuleResult:
    return rule(verdict=judge([CALM | seed for seed in seeds], bp_gain=bp_gain))


# The answer


def test_every_verdict_there_is_has_a_meaning():
    assert set(MEANINGS) == set(get_args(Word))
    signs = [meaning.sign for word, meaning in MEANINGS.items() if word not in BAD_WORDS]
    bad = {MEANINGS[word].sign for word in BAD_WORDS}
    assert len({*signs, *bad}) == len(signs) + 1


def test_rules_are_gathered_by_their_word_and_controls_left_out():
    views = [
        rule("walk back", "dfa"),
        rule("trustworthy", "bp"),
        rule("walk back", "fa"),
        rule("trustworthy", "bp[wide_block]", control="wide_block"),
    ]
    said = [(word, labels) for _, word, labels in answer(views)]
    assert said == [("trustworthy", ["bp"]), ("walk back", ["dfa", "fa"])]
    assert answer([]) == []


def test_one_seed_is_said_beside_the_word():
    views = [rule("walk back", "dfa"), rule("walk back", "fa", n=1)]
    said = [(word, labels) for _, word, labels in answer(views)]
    assert said == [("walk back", ["dfa"]), ("walk back, single seed", ["fa"])]
    assert [shown_word(one) for one in views] == ["walk back", "walk back, single seed"]


@pytest.mark.parametrize(
    ("seeds", "said"), [(1, "bp (2 of 2 blocks)"), (2, "bp"), (3, "bp (2 of 2 blocks)")]
)
def test_how_many_blocks_a_rule_trains_is_said_beside_its_name(seeds, said):
    ladder, twins = ({k: row[:seeds] for k, row in rungs.items()} for rungs in (CLIMB, ON_NOISE))
    depth = used_depth(ladder, twins=twins)
    assert [labels for *_, labels in answer([rule(used_depth=depth)])] == [[said]]


def test_how_sure_it_is_is_left_to_the_card():
    twins = {k: [0.28, 0.29, 0.3] for k in (1, 2)}
    depth = used_depth({0: [0.3] * 3, 1: [0.5] * 3, 2: [0.51, 0.56, 0.6]}, twins=twins)
    assert str(depth) == "2 of 2 (at least 1)"
    assert [labels for *_, labels in answer([rule(used_depth=depth)])] == [["bp (2 of 2 blocks)"]]


def test_what_is_not_judged_is_not_said_to_rest_on_one_seed():
    told = judge([{"growth": 1.0}])
    views = [rule(label="a", verdict=replace(told, word="not judged")), rule("not judged", "b")]
    assert [(word, labels) for _, word, labels in answer(views)] == [("not judged", ["a", "b"])]


# The evidence


def test_alarms_come_first_then_what_passes_each_as_its_diagnostic_says_it():
    said = evidence(judged({"growth": 694.3, "depth_gain": -0.04}))
    assert said == (
        "One block multiplies the activations by 694 and drowns the blocks before it; training "
        "the blocks changes accuracy by −4.0 points: no gain; the gradient arrives."
    )
    assert evidence(judged({"depth_gain": 0.3})) == (
        "Its activations keep their scale; the gradient arrives; training the blocks changes "
        "accuracy by +30.0 points."
    )


def test_what_is_unclear_and_what_was_not_measured_is_said():
    said = evidence(judged({"growth": 10.0}, {"growth": 90.0}))
    assert said.startswith("One block may multiply the activations by 30 [")
    assert (
        "the accuracy gained by training its blocks was not measured; the gradient arrives" in said
    )
    assert "depth does not help on this task" in evidence(judged({"depth_gain": 0.1}, bp_gain=0.0))


def test_a_growth_without_bound_has_its_sign():
    assert "multiplies the activations by ∞ [∞, ∞] and" in evidence(
        judged(*[{"growth": math.inf}] * 2)
    )


def test_a_gradient_that_is_numerically_wrong():
    assert "numerically wrong in every seed: 0.2" in evidence(judged({"numerics": 0.5}))


def test_a_finding_of_a_diagnostic_that_is_not_registered_is_said_as_it_was_noted():
    other = Finding("DX", "fires", {}, "lesion: no block is missed")
    assert (
        evidence(rule(verdict=Verdict("walk back", (other,), 1))) == "Lesion: no block is missed."
    )


def test_a_gradient_that_cannot_be_told_is_not_said_to_arrive(tmp_path):
    old = {name: DEAD[name] for name in ("g_norm",)}
    folder = write_study(tmp_path / "s", {"dfa": GOOD}, readings={"dfa": old})
    one = load(folder)["dfa"]
    assert one.verdict.word == "not judged"
    assert "too little was recorded" in evidence(one)
    assert "; the gradient arrives;" not in evidence(one)


def test_nothing_to_go_by():
    assert evidence(rule("not judged")) == "No run with all blocks trained is done yet."
    assert evidence(rule("no blocks")) == "Embedding and readout alone reach this accuracy."


# The state


def test_a_whole_study_has_nothing_to_say_of_its_state(tmp_path):
    assert state_of_study(load(write_study(tmp_path / "s", {"bp": GOOD}))) is None


def test_what_is_missing_is_counted(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {2: {1: 0.5, 2: None}}})
    said = "1 of 2 runs have finished; 1 diverged."
    assert state_of_study(load(folder)) == said
    put_plan(StudyFolder(folder), [run_config("bp", 2, 3)], 0.5)
    said = "1 of 3 runs have finished; 1 diverged, 1 waiting."
    assert state_of_study(load(folder)) == f"This study is not complete: {said}"


def test_runs_that_failed_leave_nothing_to_train(tmp_path):
    folder = write_study(tmp_path / "s", {})
    started(StudyFolder(folder).runs, run_config(), 1).fail("no luck", "", {})
    assert state_of_study(load(folder)) == "0 of 1 runs have finished; 1 failed."


# The identity


def test_what_the_study_is(tmp_path):
    study = load(write_whole_study(tmp_path / "mine", version="1.2", date="2030-01-02T03:04:05"))
    said = dict(identity(study, "a day", "a version"))
    assert said == {
        "Study": "mine",
        "Task": "tiny, judged on its test samples, chance 12.5 %",
        "Network": "residual_mlp, width 3, 2 blocks",
        "Recipe": "3 epochs, batch 128, AdamW, learning rate 0.001, weight decay 0.01, float32",
        "Seeds": "1, 2",
        "Runs": "10 finished, 1 diverged, 1 failed, 1 waiting",
        "Date": "a day",
        "Version": "a version",
    }


def test_of_networks_from_elsewhere_only_what_is_known(tmp_path):
    folder = write_audit(tmp_path / "a", {"bp": {1: (0.5, 0.4)}})
    said = dict(identity(load(folder), "", ""))
    assert set(said) == {"Study", "Task", "Seeds", "Runs", "Date", "Version"}
    assert said["Runs"] == "none of its own"


def test_a_penalty_is_part_of_the_recipe(tmp_path):
    study = load(write_study(tmp_path / "s", {"bp": GOOD}))
    recipe = study.config.recipe.model_copy(update={"penalty": 0.01})
    config = study.config.model_copy(update={"recipe": recipe})
    said = dict(identity(replace(study, config=config), "", ""))
    assert said["Recipe"].endswith(", penalty 0.01")


def test_dates_and_versions(tmp_path):
    about = {"version": "1.0", "commit": "0123456789", "date": "2030-01-31T23:59:59+00:00"}
    study = load(write_study(tmp_path / "s", {"bp": GOOD}, **about))
    assert (dates_of(study), versions_of(study)) == (
        "2030-01-31",
        "runs by depthgauge 1.0 (0123456)",
    )
    late = replace(study.runs[0], provenance={"version": "1.1", "date": "2031-02-01T00:00:00"})
    both = replace(study, runs=(*study.runs, late))
    assert dates_of(both) == "2030-01-31 to 2031-02-01"
    assert versions_of(both) == "runs by depthgauge 1.0 (0123456), depthgauge 1.1"


def test_older_results_have_no_date(tmp_path):
    study = load(write_study(tmp_path / "s", {"bp": GOOD}))
    assert dates_of(study) == "not recorded"
    bare = replace(study, runs=tuple(replace(run, provenance={}) for run in study.runs))
    assert versions_of(bare) == "not recorded"


def test_what_made_the_runs_and_what_read_them_are_told_apart(tmp_path):
    folder = write_whole_study(tmp_path / "s", version="0.9", commit="c0ffee0c0ffee", dirty=True)
    assert versions_of(load(folder)) == (
        "runs by depthgauge 0.9 (c0ffee0 with uncommitted changes); "
        "audit by depthgauge 1.0 (c0ffee0)"
    )
