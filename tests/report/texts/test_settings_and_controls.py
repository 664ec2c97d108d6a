"""What settings and controls say."""

from __future__ import annotations

from typing import Any

from report.studies import CONFIG, audit_of_verdicts, make_audit, make_study, make_verdict, spread

from depthgauge.controls import control_in
from depthgauge.report.paper.pitfalls.judging import pitfalls_of_judging
from depthgauge.report.paper.section import APPLIES, AVOIDED
from depthgauge.report.texts.audit import audit_sentences
from depthgauge.report.texts.settings_and_controls import (
    recipe_sentences,
    tuning_sentence,
    without_control,
)
from depthgauge.results.audit_parts import Candidate, RuleVerdict, Selection, ShallowRule


def tried(**means: float | None) -> dict[str, Candidate]:
    return {
        label: Candidate(accuracy=spread(mean), lost=0, runs=()) for label, mean in means.items()
    }


def selected(chosen: str, **means: float) -> Selection:
    return Selection(chosen=chosen, samples=5000, candidates=tried(**means))


def shallow(mean: float | None) -> ShallowRule:
    return ShallowRule(accuracy=spread(mean), accuracies={}, runs={})


def words_of(verdicts: dict[str, RuleVerdict] | None = None, **parts: Any) -> list[str]:
    if verdicts is None:
        verdicts = {"dfa": make_verdict()}
    return recipe_sentences(audit_of_verdicts(verdicts, **parts))


def settings(rule: str, **words: str) -> dict[str, RuleVerdict]:
    """The rule at several settings, by label."""
    return {
        label.replace("_", "[", 1) + ("]" if "_" in label else ""): make_verdict(
            rule=rule, word=word
        )
        for label, word in words.items()
    }


def test_a_choice_is_said_beside_the_rule_as_it_was_given():
    choice = selected("dfa[x]", **{"dfa": 0.3, "dfa[x]": 0.4, "dfa[y]": 0.2})
    assert words_of(selection={"dfa": choice}) == [
        "dfa: of 3 settings dfa[x] was best on 5,000 held-out samples, 40.0 %, against 30.0 % at "
        "the given setting."
    ]


def test_a_rule_that_is_best_as_it_was_given_is_beside_nothing():
    for means in [{"dfa": 0.4, "dfa[x]": 0.3}, {"dfa[x]": 0.3, "dfa": 0.4}]:
        (sentence,) = words_of(selection={"dfa": selected("dfa", **means)})
        assert sentence.endswith("dfa was best on 5,000 held-out samples, 40.0 %.")


def test_rules_whose_setting_nobody_chose_are_named_once():
    """A verdict is about a recipe: a reader must know where that was not this rule's own."""
    labels = ("dfa", "dfa[penalty=1.0]", "fa", "ep", "bp[no_skip]")
    verdicts = {label: make_verdict(control=control_in(label)) for label in labels}
    chosen = selected("dfa[penalty=1.0]", **{"dfa": 0.3, "dfa[penalty=1.0]": 0.4})
    alone = selected("fa", fa=0.3)
    lost = Selection(chosen=None, samples=9, candidates=tried(**{"ep": None, "ep[x]": None}))

    def named(**selection: Selection) -> str | None:
        return tuning_sentence(make_study(audit=audit_of_verdicts(verdicts, selection=selection)))

    assert "not tuned for dfa, fa, ep: " in named()
    assert "not tuned for fa, ep: " in named(dfa=chosen, fa=alone, ep=lost)
    assert (
        named(
            dfa=chosen,
            fa=selected("fa[x]", **{"fa[x]": 0.3, "fa": 0}),
            ep=selected("ep", **{"ep": 0.3, "ep[x]": 0}),
        )
        is None
    )
    assert tuning_sentence(make_study()) is None


def test_a_paper_has_to_say_whether_settings_were_tuned():
    chosen = selected("dfa[x]", **{"dfa": 0.3, "dfa[x]": 0.4})
    for selection, mark in (({}, APPLIES), ({"dfa": chosen}, AVOIDED)):
        audit = audit_of_verdicts({"dfa": make_verdict()}, selection=selection)
        items = {item.label: item for item in pitfalls_of_judging(make_study(audit=audit))}
        assert items["Tuning"].mark == mark


def test_how_networks_from_elsewhere_were_tuned_is_said_to_be_unknown():
    config = CONFIG.model_copy(update={"net": None, "recipe": None})
    audit = audit_of_verdicts({"dfa": make_verdict()}, config=config)
    assert "not known" in tuning_sentence(make_study(audit=audit, config=config))


def test_where_there_was_nothing_to_choose_nothing_is_said():
    assert words_of(selection={"dfa": selected("dfa", dfa=0.4)}) == []


def test_that_nothing_could_be_trained_is_said():
    choice = Selection(chosen=None, samples=5000, candidates={})
    (sentence,) = words_of(selection={"dfa": choice})
    assert sentence == "dfa: no setting could be trained, so none was chosen."


def test_an_inconclusive_setting_leaves_it_open():
    (sentence,) = words_of(settings("dfa", dfa="walk back", dfa_x="inconclusive"))
    assert sentence == (
        "dfa: whether the verdict survives cannot be told: walk back with dfa; inconclusive with "
        "dfa[x]."
    )


def test_a_verdict_that_survives_and_one_that_does_not():
    same = settings("dfa", dfa="walk back", dfa_x="walk back")
    other = settings("fa", fa="walk back", fa_x="trustworthy", fa_y="walk back")
    assert words_of(same | other) == [
        "dfa: the verdict survives: walk back at all 2 settings.",
        "fa: the verdict depends on the setting: walk back with fa, fa[y]; trustworthy with fa[x].",
    ]


def test_a_network_without_blocks_is_compared_with_the_same_setting():
    verdicts = {
        "dfa": make_verdict(rule=None, accuracy=spread(0.30)),
        "dfa[x]": make_verdict(rule=None, accuracy=spread(0.40)),
    }
    alone = {"dfa[shallow]": shallow(0.35), "dfa[x,shallow]": shallow(0.35)}
    assert words_of(verdicts, shallow=alone) == [
        "dfa[shallow]: the network without blocks reaches 35.0 %, 5.0 points more than dfa with "
        "its blocks.",
        "dfa[x,shallow]: the network without blocks reaches 35.0 %, 5.0 points less than dfa[x] "
        "with its blocks.",
    ]


def test_one_wide_block_and_nothing_to_learn():
    verdicts = {
        "bp": make_verdict(accuracy=spread(0.6)),
        "bp[wide_block]": make_verdict(accuracy=spread(0.55), control="wide_block"),
        "bp[random_targets]": make_verdict(
            control="random_targets", word="no alarm, depth untested"
        ),
        "bp[no_skip]": make_verdict(control="no_skip"),
    }
    assert words_of(verdicts) == [
        "bp[wide_block]: one block with as many parameters reaches 55.0 %, 5.0 points less than "
        "bp with its blocks.",
        "bp[random_targets]: on random targets, the verdict is no alarm, depth untested.",
    ]


def test_what_diverged_is_compared_with_nothing():
    for full, alone in [(None, 0.3), (0.3, None)]:
        verdicts = {"dfa": make_verdict(accuracy=spread(full))}
        assert words_of(verdicts, shallow={"dfa[shallow]": shallow(alone)}) == []


def test_a_control_whose_rule_was_not_audited_is_compared_with_nothing():
    assert words_of({}, shallow={"fa[shallow]": shallow(0.2)}) == []


def test_without_settings_and_controls_there_is_nothing_to_say():
    assert words_of() == []


def test_the_words_of_an_audit_end_with_these():
    audit = make_audit(selection={"dfa": selected("dfa", dfa=0.4, fa=0.3)})
    assert audit_sentences(make_study(audit=audit))[-1] == recipe_sentences(audit)[0]


def test_the_control_stands_last_in_the_brackets():
    for method, plain in [
        ("dfa[shallow]", "dfa"),
        ("dfa[normalise=batch,shallow]", "dfa[normalise=batch]"),
        ("dfa[epsilon=0.1,penalty=0.01,wide_block]", "dfa[epsilon=0.1,penalty=0.01]"),
    ]:
        assert without_control(method) == plain
