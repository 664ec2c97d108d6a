"""The words at the top of the page."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from report.page.page_studies import BAD, DEAD, GOOD, HEALTHY, write_whole_study
from store.small_runs_on_disk import BASE, run_config, started
from studies.compared_studies import put_plan, write_audit, write_study

from depthgauge.diagnostics.intervals import Interval
from depthgauge.report.page.words import (
    DIAGNOSTICS,
    MEANINGS,
    answer,
    dates_of,
    evidence,
    identity,
    shown_word,
    state_of_study,
    versions_of,
)
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.gathered import gather
from depthgauge.studies.rule_views import NO_BLOCKS, NOT_JUDGED, RuleView, rule_views

NOTHING = {"mean": None, "std": None, "n": 0}


def view(verdict: str = "trustworthy", method: str = "bp", *diagnostics, **more) -> RuleView:
    about = {"control": None, "single_seed": False, "fired": ()} | more
    return RuleView(
        method=method,
        verdict=verdict,
        in_words=verdict,
        diagnostics=diagnostics,
        basis="audit",
        accuracy=NOTHING,
        frozen=NOTHING,
        networks=(),
        ladder=(),
        **about,
    )


def found(name: str, finding: str, n: int = 3, **intervals):
    values = {
        key: dict(zip(("low", "center", "high"), v, strict=True)) for key, v in intervals.items()
    }
    return {
        "name": name,
        "finding": finding,
        "intervals": {key: value | {"n": n} for key, value in values.items()},
        "sentence": "",
    }


GROWS = found("D1", "fires", growth=(600.0, 694.3, 812345.0))
VANISHED = found("D2", "fires", gradient=(1e-10, 4.21e-9, 1e-8))
CALM = found("D1", "passes", growth=(1.0, 1.1, 1.2))
ARRIVES = found("D2", "passes", gradient=(0.1, 0.2, 0.3))
GAINS = found("D3", "passes", depth_gain=(0.2, 0.3, 0.4))
WORTHLESS = found("D3", "fires", depth_gain=(-0.051, -0.04, 0.01))


# The answer


def test_every_verdict_there_is_has_a_meaning():
    words = {"walk back", "inconclusive", "trustworthy", "no alarm, depth untested"}
    assert set(MEANINGS) == words | {NO_BLOCKS, NOT_JUDGED}
    assert set(DIAGNOSTICS) == {"D1", "D2", "D3"}
    signs = [meaning.sign for meaning in MEANINGS.values()]
    assert len(set(signs)) == len(signs)


def test_rules_are_gathered_by_their_word_and_controls_left_out():
    views = [
        view("walk back", "dfa"),
        view("trustworthy", "bp"),
        view("walk back", "fa"),
        view("trustworthy", "bp[wide_block]", control="wide_block"),
    ]
    said = [(word, methods) for _, word, methods in answer(views)]
    assert said == [("trustworthy", ["bp"]), ("walk back", ["dfa", "fa"])]
    assert answer([]) == []


def test_one_seed_is_said_beside_the_word():
    views = [view("walk back", "dfa"), view("walk back", "fa", single_seed=True)]
    said = [(word, methods) for _, word, methods in answer(views)]
    assert said == [("walk back", ["dfa"]), ("walk back, single seed", ["fa"])]
    assert [shown_word(one) for one in views] == ["walk back", "walk back, single seed"]


# The evidence


def test_what_fired_is_said_with_its_interval():
    said = evidence(view("walk back", "dfa", GROWS, VANISHED, WORTHLESS))
    assert said == (
        "The stream blows up, 694 [600, 812,000]-fold in one block; "
        "the gradient has vanished: 4.2e-9 [1e-10, 1e-8] at the top; "
        "training the blocks changes accuracy by −4.0 [−5.1, +1.0] points: no gain."
    )


def test_what_passes_is_said_too():
    said = evidence(view("trustworthy", "bp", CALM, ARRIVES, GAINS))
    assert said == (
        "Training the blocks changes accuracy by +30.0 [+20.0, +40.0] points; "
        "its stream keeps its scale and the gradient arrives."
    )


@pytest.mark.parametrize(
    ("diagnostic", "words"),
    [
        (
            found("D1", "straddles", growth=(2.0, 9.0, 99.0)),
            "The stream may blow up, 9 [2, 99]-fold",
        ),
        (found("D2", "straddles", gradient=(0.0, 1e-6, None)), "vanished: 1e-6 [0, ∞] at the top"),
        (found("D3", "straddles", depth_gain=(0.0, 0.1, 0.2)), "whether they help stays open"),
        (found("D3", "untested", depth_gain=(0.0, 0.1, 0.2)), "depth does not help on this task"),
        (found("D3", "untested"), "What its blocks are worth was not measured"),
        (found("D1", "fires", n=1, growth=(3e7, 3e7, 3e7)), "blows up, 3e7-fold in one block"),
        (found("D1", "fires", growth=(None, None, None)), "blows up, ∞ [∞, ∞]-fold"),
        (found("D3", "fires", n=1, depth_gain=(0.0, 0.001, 0.0)), "by +0.1 points: too little"),
    ],
)
def test_what_each_finding_is_called(diagnostic, words):
    assert words in evidence(view("walk back", "dfa", diagnostic))


@pytest.mark.parametrize(
    ("finding", "wrong", "words"),
    [
        ("fires", "3 of 3", "The gradient at the top is numerically wrong in every seed: 1e-6"),
        ("straddles", "1 of 3", "The gradient at the top is numerically wrong in 1 of 3 seeds"),
        ("fires", "1 of 3", "The gradient has vanished, and is numerically wrong in 1 of 3 seeds"),
    ],
)
def test_a_gradient_that_is_numerically_wrong(finding, wrong, words):
    one = found("D2", finding, gradient=(1e-7, 1e-6, 1e-5))
    one["sentence"] = f"reference: …; numerically wrong in {wrong} seeds (cosine …)"
    assert words in evidence(view("walk back", "dfa", one))


def test_what_is_not_judged_is_not_said_to_rest_on_one_seed():
    views = [view("not judged", "a", single_seed=True), view("not judged", "b")]
    assert [(word, methods) for _, word, methods in answer(views)] == [("not judged", ["a", "b"])]


def test_infinity_is_the_same_sign_in_a_document_and_in_memory():
    for unbound in (None, float("inf")):
        one = found("D1", "fires", growth=(5.0, unbound, unbound))
        assert "∞ [5, ∞]" in evidence(view("walk back", "dfa", one))


def test_a_gradient_that_cannot_be_told_is_not_said_to_arrive(tmp_path):
    old = {name: DEAD[name] for name in ("g_norm",)}
    folder = write_study(tmp_path / "s", {"dfa": GOOD}, readings={"dfa": old})
    (one,) = rule_views(gather(folder))
    assert one.verdict == NOT_JUDGED
    assert "cannot be told" in evidence(one)
    assert "keeps its scale" not in evidence(one)


def test_nothing_to_go_by():
    assert evidence(view(NOT_JUDGED)) == "No run with all blocks trained is done yet."
    assert evidence(view(NO_BLOCKS)) == "What embedding and readout do alone."


def test_intervals_of_the_training_record_read_like_those_of_an_audit(tmp_path):
    rules = {"bp": GOOD, "dfa": BAD}
    folder = write_study(tmp_path / "s", rules, readings={"bp": HEALTHY, "dfa": DEAD})
    views = rule_views(gather(folder))
    plain = json.loads(
        json.dumps([replace(one, networks=(), ladder=()).diagnostics for one in views])
    )
    again = [replace(one, diagnostics=d) for one, d in zip(views, plain, strict=True)]
    assert [evidence(one) for one in again] == [evidence(one) for one in views]
    assert isinstance(Interval(**plain[0][0]["intervals"]["growth"]), Interval)


# The state


def test_a_whole_study_has_nothing_to_say_of_its_state(tmp_path):
    assert state_of_study(gather(write_study(tmp_path / "s", {"bp": GOOD}))) is None


def test_what_is_missing_is_counted(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {2: {1: 0.5, 2: None}}})
    said = "1 of 2 runs have finished; 1 diverged."
    assert state_of_study(gather(folder)) == said
    put_plan(StudyFolder(folder), [run_config("bp", 2, 3)], 0.5)
    said = "1 of 3 runs have finished; 1 diverged, 1 not begun."
    assert state_of_study(gather(folder)) == f"This study is not complete: {said}"


def test_runs_that_failed_leave_nothing_to_train(tmp_path):
    folder = write_study(tmp_path / "s", {})
    started(StudyFolder(folder).runs, run_config(), 1).fail("no luck", "", {})
    assert state_of_study(gather(folder)) == "0 of 1 runs have finished; 1 failed."


# The identity


def test_what_the_study_is(tmp_path):
    study = gather(write_whole_study(tmp_path / "mine", version="1.2", date="2030-01-02T03:04:05"))
    said = dict(identity(study, "a day", "a version"))
    assert said == {
        "Study": "mine",
        "Task": "tiny, judged on its test samples, chance 12.5 %",
        "Network": "residual_mlp, width 3, 2 blocks",
        "Recipe": "3 epochs, batch 128, AdamW, learning rate 0.001, weight decay 0.01, float32",
        "Seeds": "1, 2",
        "Runs": "10 finished, 1 diverged, 1 failed, 1 not begun",
        "Date": "a day",
        "Version": "a version",
    }


def test_of_networks_from_elsewhere_only_what_is_known(tmp_path):
    folder = write_audit(tmp_path / "a", {"bp": {1: (0.5, 0.4)}})
    said = dict(identity(gather(folder), "", ""))
    assert set(said) == {"Study", "Task", "Seeds", "Runs", "Date", "Version"}
    assert said["Runs"] == "none of its own"
    audit = json.loads((folder / "audit.json").read_text())
    del audit["config"]["task"]
    (folder / "audit.json").write_text(json.dumps(audit))
    assert dict(identity(gather(folder), "", ""))["Task"] == "not known, chance 10.0 %"


def test_a_penalty_is_part_of_the_recipe(tmp_path):
    study = gather(write_study(tmp_path / "s", {"bp": GOOD}))
    recipe = BASE["recipe"] | {"penalty": 0.01}
    said = dict(identity(replace(study, base=BASE | {"recipe": recipe}), "", ""))
    assert said["Recipe"].endswith(", penalty 0.01")


def test_dates_and_versions(tmp_path):
    about = {"version": "1.0", "commit": "0123456789", "date": "2030-01-31T23:59:59+00:00"}
    study = gather(write_study(tmp_path / "s", {"bp": GOOD}, **about))
    assert (dates_of(study), versions_of(study)) == (
        "2030-01-31",
        "runs by depthgauge 1.0 (0123456)",
    )
    late = replace(study.runs[0], provenance={"version": "1.1", "date": "2031-02-01T00:00:00"})
    both = replace(study, runs=(*study.runs, late))
    assert dates_of(both) == "2030-01-31 to 2031-02-01"
    assert versions_of(both) == "runs by depthgauge 1.0 (0123456), depthgauge 1.1"


def test_older_results_have_no_date(tmp_path):
    study = gather(write_study(tmp_path / "s", {"bp": GOOD}))
    assert dates_of(study) == "not recorded"
    bare = replace(study, runs=tuple(replace(run, provenance={}) for run in study.runs))
    assert versions_of(bare) == "not recorded"


def test_what_made_the_runs_and_what_read_them_are_told_apart(tmp_path):
    folder = write_whole_study(tmp_path / "s", version="0.9", commit="c0ffee0c0ffee", dirty=True)
    assert versions_of(gather(folder)) == (
        "runs by depthgauge 0.9 (c0ffee0 with uncommitted changes); "
        "audit by depthgauge 1.0 (c0ffee0)"
    )
