"""What settings and controls say."""

from __future__ import annotations

from typing import Any

import pytest
from report.audits import make_audit, make_entry

from depthgauge.report.audit_words import audit_words
from depthgauge.report.recipe_words import recipe_words, without_control


def spread(mean: float | None) -> dict[str, Any]:
    return {"mean": mean, "std": None, "n": 1}


def selected(chosen: str, **tried: float) -> dict[str, Any]:
    candidates = {label: spread(mean) for label, mean in tried.items()}
    return {"chosen": chosen, "samples": 5000, "candidates": candidates}


def words_of(verdicts: dict[str, Any] | None = None, **parts: Any) -> list[str]:
    return recipe_words(make_audit(verdicts=verdicts) | parts)


def test_a_choice_is_said_beside_the_rule_as_it_was_given():
    choice = selected("dfa[x]", **{"dfa": 0.3, "dfa[x]": 0.4, "dfa[y]": 0.2})
    assert words_of(selection={"dfa": choice}) == [
        "dfa: of 3 settings dfa[x] was best on 5,000 held-out samples, 40.0 %, against 30.0 % as "
        "it was given."
    ]


@pytest.mark.parametrize("tried", [{"dfa": 0.4, "dfa[x]": 0.3}, {"dfa[x]": 0.3, "dfa": 0.4}])
def test_a_rule_that_is_best_as_it_was_given_is_beside_nothing(tried):
    (sentence,) = words_of(selection={"dfa": selected("dfa", **tried)})
    assert sentence.endswith("dfa was best on 5,000 held-out samples, 40.0 %.")


def test_where_there_was_nothing_to_choose_nothing_is_said():
    assert words_of(selection={"dfa": selected("dfa", dfa=0.4)}) == []


def test_that_nothing_could_be_trained_is_said():
    choice = {"chosen": None, "samples": 5000, "candidates": {}}
    (sentence,) = words_of(selection={"dfa": choice})
    assert sentence == "dfa: no setting could be trained, so none was chosen."


def test_an_inconclusive_setting_leaves_it_open():
    verdicts = {"dfa": "walk back", "dfa[x]": "inconclusive"}
    (sentence,) = words_of(settings={"dfa": {"verdicts": verdicts, "survives": None}})
    assert sentence == (
        "dfa: whether the verdict survives cannot be told: walk back with dfa; inconclusive with "
        "dfa[x]."
    )


def test_a_verdict_that_survives_and_one_that_does_not():
    settings = {
        "dfa": {"verdicts": {"dfa": "walk back", "dfa[x]": "walk back"}, "survives": True},
        "fa": {
            "verdicts": {"fa": "walk back", "fa[x]": "trustworthy", "fa[y]": "walk back"},
            "survives": False,
        },
    }
    assert words_of(settings=settings) == [
        "dfa: the verdict survives: walk back at all 2 settings.",
        "fa: the verdict depends on the setting: walk back with fa, fa[y]; trustworthy with fa[x].",
    ]


def test_a_network_without_blocks_is_compared_with_the_same_setting():
    verdicts = {"dfa": make_entry(acc=spread(0.30)), "dfa[x]": make_entry(acc=spread(0.40))}
    shallow = {"dfa[shallow]": {"acc": spread(0.35)}, "dfa[x,shallow]": {"acc": spread(0.35)}}
    assert words_of(verdicts, shallow=shallow) == [
        "dfa[shallow]: no blocks at all reach 35.0 %, 5.0 points more than the blocks of dfa.",
        "dfa[x,shallow]: no blocks at all reach 35.0 %, 5.0 points less than the blocks of dfa[x].",
    ]


def test_one_wide_block_and_nothing_to_learn():
    verdicts = {
        "bp": make_entry(acc=spread(0.6)),
        "bp[wide_block]": make_entry(acc=spread(0.55), control="wide_block"),
        "bp[random_targets]": make_entry(
            control="random_targets", verdict_in_words="no alarm, depth untested"
        ),
        "bp[no_skip]": make_entry(control="no_skip"),
    }
    assert words_of(verdicts) == [
        "bp[wide_block]: one block with as many parameters reaches 55.0 %, 5.0 points less than "
        "the blocks of bp.",
        "bp[random_targets]: with nothing to learn, no alarm, depth untested.",
    ]


@pytest.mark.parametrize(("full", "alone"), [(None, 0.3), (0.3, None)])
def test_what_diverged_is_compared_with_nothing(full, alone):
    verdicts = {"dfa": make_entry(acc=spread(full))}
    assert words_of(verdicts, shallow={"dfa[shallow]": {"acc": spread(alone)}}) == []


def test_a_control_whose_rule_was_not_audited_is_compared_with_nothing():
    assert words_of({}, shallow={"fa[shallow]": {"acc": spread(0.2)}}) == []


def test_without_settings_and_controls_there_is_nothing_to_say():
    assert words_of() == []


def test_the_words_of_an_audit_end_with_these():
    document = make_audit() | {"selection": {"dfa": selected("dfa", dfa=0.4, fa=0.3)}}
    assert audit_words(document)[-1] == recipe_words(document)[0]


@pytest.mark.parametrize(
    ("method", "plain"),
    [
        ("dfa[shallow]", "dfa"),
        ("dfa[normalise=batch,shallow]", "dfa[normalise=batch]"),
        ("dfa[epsilon=0.1,penalty=0.01,wide_block]", "dfa[epsilon=0.1,penalty=0.01]"),
    ],
)
def test_the_control_stands_last_in_the_brackets(method, plain):
    assert without_control(method) == plain
