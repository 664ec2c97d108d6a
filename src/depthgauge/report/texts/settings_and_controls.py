"""Sentences on settings and controls: is a verdict due to the rule, its recipe or its capacity?"""

from __future__ import annotations

from depthgauge.number_format import percent
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import RuleVerdict, Selection, Settings, ShallowRule
from depthgauge.results.study import StudyResult
from depthgauge.scheduling.variations import SHALLOW


def recipe_sentences(audit: Audit, *, with_floor: bool = True) -> list[str]:
    """Return sentences on chosen settings, on verdicts across settings, and on controls.

    One control is also a floor: the network without blocks, trained by bp. It is left out if
    `with_floor` is false.
    """
    selection = audit.selection.items()
    words = [_chosen(rule, entry) for rule, entry in selection if len(entry.candidates) != 1]
    words += [_survives(rule, entry) for rule, entry in audit.settings.items()]
    return words + _controls(audit, with_floor)


def tuning_sentence(study: StudyResult) -> str | None:
    """Say for which rules learning rate and options were not tuned; None if all were tuned."""
    if study.rules and study.config.recipe is None:
        return (
            "These networks were trained elsewhere: whether learning rate and options were tuned "
            "for each rule is not known, and a verdict is about the recipe that was used."
        )
    untuned = untuned_rules(study)
    if not untuned:
        return None
    return (
        f"Learning rate and options were not tuned for {', '.join(untuned)}: a verdict is about "
        "this recipe (--vary with --select validation chooses each rule's setting on held-out "
        "samples)."
    )


def untuned_rules(study: StudyResult) -> list[str]:
    """Return the rules that were not tuned.

    A rule is tuned if its setting was chosen from several settings on held-out samples.
    """
    selections = study.audit.selection.values() if study.audit else ()
    chosen = [entry for entry in selections if entry.chosen and len(entry.candidates) > 1]
    tuned = {label for entry in chosen for label in entry.candidates}
    labels = [rule.label for rule in study.rules.values() if rule.control is None]
    return list(dict.fromkeys(label.partition("[")[0] for label in labels if label not in tuned))


def _chosen(rule: str, entry: Selection) -> str:
    tried, chosen = entry.candidates, entry.chosen
    if chosen is None:
        return f"{rule}: no setting could be trained, so none was chosen."
    accuracy = percent(tried[chosen].accuracy.mean)
    beside = ""
    if rule in tried and rule != chosen:
        beside = f", against {percent(tried[rule].accuracy.mean)} % at the given setting"
    return (
        f"{rule}: of {len(tried)} settings {chosen} was best on {entry.samples:,} held-out "
        f"samples, {accuracy} %{beside}."
    )


def _survives(rule: str, entry: Settings) -> str:
    by_word: dict[str, list[str]] = {}
    for label, word in entry.words.items():
        by_word.setdefault(word, []).append(label)
    if entry.survives:
        settings = len(entry.words)
        return f"{rule}: the verdict survives: {next(iter(by_word))} at all {settings} settings."
    parts = "; ".join(f"{word} with {', '.join(labels)}" for word, labels in by_word.items())
    if entry.survives is None:
        return f"{rule}: whether the verdict survives cannot be told: {parts}."
    return f"{rule}: the verdict depends on the setting: {parts}."


def _controls(audit: Audit, with_floor: bool) -> list[str]:
    words = []
    for label, shallow in audit.shallow.items():
        if label == SHALLOW and not with_floor:
            continue
        words += _beside(label, shallow, audit, "the network without blocks reaches")
    for label, entry in audit.verdicts.items():
        if entry.control == "wide_block":
            words += _beside(label, entry, audit, "one block with as many parameters reaches")
        if entry.control == "random_targets":
            words.append(f"{label}: on random targets, the verdict is {entry.in_words}.")
    return words


def _beside(label: str, entry: RuleVerdict | ShallowRule, audit: Audit, what: str) -> list[str]:
    """Return a sentence that compares a control with the same rule without the control."""
    whole = audit.verdicts.get(without_control(label))
    full, mean = whole.accuracy.mean if whole else None, entry.accuracy.mean
    if full is None or mean is None:
        return []
    side, points = "less" if full >= mean else "more", percent(abs(full - mean))
    return [
        f"{label}: {what} {percent(mean)} %, {points} points {side} than "
        f"{without_control(label)} with its blocks."
    ]


def without_control(label: str) -> str:
    """Return a label without its control, which is the last entry in the brackets."""
    name, _, inside = label.partition("[")
    kept = ",".join(inside.rstrip("]").split(",")[:-1])
    return f"{name}[{kept}]" if kept else name
