"""Pitfalls of judging: what a verdict rests on."""

from __future__ import annotations

from collections.abc import Collection

from depthgauge.diagnostics.depth_utility import DEPTH_UTILITY, LEAST
from depthgauge.number_format import exact, points
from depthgauge.report.paper.section import APPLIES, AVOIDED, NOT_MEASURED, Item
from depthgauge.report.texts.captions import pairing_words
from depthgauge.report.texts.settings_and_controls import recipe_sentences, tuning_sentence
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def pitfalls_of_judging(study: StudyResult) -> list[Item]:
    """Return the checklist's items on judging.

    Items are on basis, frozen baseline, use of depth, thresholds and tuning. If the audit has
    settings or controls, there is also an item on settings and controls.
    """
    judged = [view for view in study.rules.values() if view.control != "shallow"]
    items = [_basis(judged), _baseline(study, judged), _depth_helps(study)]
    items += [_thresholds(study), _tuning(study)]
    words = recipe_sentences(study.audit) if study.audit else []
    if study.audit and words:
        survives = [rule.survives for rule in study.audit.settings.values()]
        mark = AVOIDED if all(survives) else APPLIES
        items.append(Item("Settings and controls", " ".join(words), mark))
    return items


def _basis(views: Collection[RuleResult]) -> Item:
    by = {
        basis: [view.label for view in views if view.basis == basis]
        for basis in ("audit", "training", "nothing")
    }
    parts = []
    if by["audit"]:
        parts.append(f"the audit judged {', '.join(by['audit'])}")
    if by["training"]:
        parts.append(
            f"the metrics of training judged {', '.join(by['training'])}: Γ, ρ and the other "
            "readings of an audit were not measured"
        )
    if by["nothing"]:
        parts.append(f"not judged: {', '.join(by['nothing'])}")
    mark = AVOIDED if by["audit"] and len(parts) == 1 else APPLIES
    text = "; ".join(parts) or "no rule has been trained yet"
    return Item("Basis of the verdicts", text, mark if parts else NOT_MEASURED)


def _baseline(study: StudyResult, views: Collection[RuleResult]) -> Item:
    label = "Frozen baseline"
    with_one = [view.label for view in views if view.frozen.n]
    without = [view.label for view in views if not view.frozen.n]
    if not with_one:
        return Item(label, "no rule has one, so the gain from depth is not known", NOT_MEASURED)
    pairing = pairing_words(study)
    text = f"the gain is {pairing}"
    if without:
        text += f"; without one: {', '.join(without)}"
    return Item(label, text, APPLIES if without or "not paired" in pairing else AVOIDED)


def _depth_helps(study: StudyResult) -> Item:
    """Return the item on depth: whether backpropagation gains so much from depth that D3 applies.

    D3 is the diagnostic of depth utility.
    """
    label, needed = "Depth can help", study.thresholds[LEAST.name]
    name, gain = DEPTH_UTILITY.id, study.bp_gain
    if gain is None:
        text = "not known: backpropagation has no gain over a frozen baseline here"
        return Item(label, text, NOT_MEASURED)
    text = f"backpropagation gains {points(gain)} points on this task"
    if gain < needed:
        return Item(label, f"{text}, less than {points(needed)}: {name} is not applicable", APPLIES)
    return Item(label, f"{text}; {points(needed)} are needed for {name} to apply", AVOIDED)


def _thresholds(study: StudyResult) -> Item:
    used, usual = dict(study.thresholds), dict(Thresholds())
    other = [
        f"{name} {exact(value)} (protocol {exact(usual[name])})"
        for name, value in used.items()
        if value != usual[name]
    ]
    if other:
        return Item("Thresholds", f"not the protocol's: {', '.join(other)}", APPLIES)
    return Item("Thresholds", "those of the protocol", AVOIDED)


def _tuning(study: StudyResult) -> Item:
    """Return the item on tuning: whether each rule's setting was chosen on held-out samples."""
    words = tuning_sentence(study)
    if words is not None:
        return Item("Tuning", words, NOT_MEASURED if study.config.recipe is None else APPLIES)
    if study.audit and study.audit.selection:
        return Item("Tuning", "each rule's setting was chosen on held-out samples", AVOIDED)
    return Item("Tuning", "there is no rule to tune, only controls", NOT_MEASURED)
