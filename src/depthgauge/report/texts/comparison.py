"""Sentences on several studies: what was trained, how studies differ, what is not comparable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from depthgauge.report.tables.comparison import reference_of, studies_of
from depthgauge.results.comparison import AgainstRule, ComparedStudy, Comparison, SameRule

LONGEST_VALUE = 24
COMMIT_DIGITS = 7
NOTHING = "nothing has been measured for both yet"

HOW_TO_READ = (
    "A verdict comes from an audit unless its row says otherwise. Changes are in percentage "
    "points, paired by the n seeds that both have. Each interval has 95 % confidence by itself "
    "(Student's t): among many intervals, some exclude zero by chance."
)

NO_RULE = "No study has a run yet."
NO_SAME_RULE = "No rule is in more than one of the studies."

Words = dict[str, list[str]]
"""Sentences by the value in the first column of their table."""


def study_sentences(compared: Comparison) -> list[str]:
    """Return for each study what was trained, how much of it is done, and on what machine."""
    return [
        f"{study.name}: {'; '.join(filter(None, (_what(study), _runs(study), _origin(study))))}."
        for study in compared.studies
    ]


def _what(study: ComparedStudy) -> str:
    config = study.config
    parts = [config.task.name]
    if config.net is not None:
        parts += [f"width {config.net.width}", _counted(config.net.blocks, "block")]
    if config.recipe is not None:
        parts.append(_counted(config.recipe.epochs, "epoch"))
    parts.append(_several("seed", study.seeds) or "no seeds")
    if config.frozen_acc:
        parts.append("frozen baselines given as one number for each rule")
    return ", ".join(parts)


def _runs(study: ComparedStudy) -> str:
    if not study.runs:
        return "networks from elsewhere" if study.seeds else "no runs yet"
    known = ", ".join(f"{count} {state}" for state, count in study.runs.items())
    return f"runs: {known}{'' if study.complete else ' (not complete)'}"


def _origin(study: ComparedStudy) -> str:
    found = study.provenance
    parts = [
        _several("version", found["version"]),
        _several("commit", [_short_commit(str(commit)) for commit in found["commit"]]),
        _several("torch", found["torch"], plural=""),
        *(", ".join(map(str, found[name])) for name in ("processor", "gpu", "device")),
    ]
    return ", ".join(filter(None, parts))


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _several(name: str, values: Sequence[Any], plural: str = "s") -> str:
    ending = plural if len(values) > 1 else ""
    return f"{name}{ending} {', '.join(map(str, values))}" if values else ""


def _short_commit(commit: str) -> str:
    digits, _, dirty = commit.partition("-")
    return digits[:COMMIT_DIGITS] + (f"-{dirty}" if dirty else "")


def same_rule_sentences(compared: Comparison) -> Words:
    """Return for each pair of studies which rules share their runs, and how other rules differ."""
    return _by_heading(
        (studies_of(pair), pair.label, _relation(pair)) for pair in compared.same_rules
    )


def _relation(pair: SameRule) -> str:
    found = pair.agreement
    alike = "none with the same accuracy"
    if found.same_epochs == found.common:
        alike = "all the same bit for bit"
    elif found.same_accuracy:
        alike = f"{found.same_accuracy} with the same accuracy, {found.same_epochs} bit for bit"
    done = f"{found.common} done in both, {alike}"
    if pair.same_runs:
        return f"the same runs, {done}"
    if not pair.differ_in and not pair.not_known:
        return "the same configuration, but no run of equal k and seed is done in both"
    doubt = "" if pair.differ_in else "perhaps "
    parts = [f"{doubt}other runs: {_settings_words(pair)}"]
    if found.same_accuracy:
        parts.append(f"of equal k and seed {done}")
    return "; ".join([*parts, *([] if pair.differences else [NOTHING])])


def _settings_words(rule: SameRule | AgainstRule) -> str:
    """Return the settings in which two configurations differ, and the unknown settings."""
    parts = [
        f"{option.name} {_value(option.first)} → {_value(option.other)}"
        for option in rule.differ_in
    ]
    return ", ".join([*parts, *(f"{name} not known" for name in rule.not_known)])


def _value(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:8]}…"


def against_sentences(compared: Comparison) -> Words:
    """Return for each study which rules could not be compared with the reference rule, and why."""
    return _by_heading(
        (reference_of(one), one.label, _why_not(one, compared.to)) for one in compared.against
    )


def _why_not(one: AgainstRule, to: str) -> str:
    if one.differences:
        return ""
    why = NOTHING
    if one.not_comparable_with is not None:
        nearest, settings = one.not_comparable_with, _settings_words(one)
        why = f"this study has no {to}, and {nearest} differs in {settings}"
    return f"not compared with {to}: {why}"


def nothing_against(compared: Comparison) -> str:
    """Return why no rule can be compared with the reference rule."""
    if any(rule.label == compared.to for rule in compared.rules):
        return f"The studies have no rule but {compared.to}."
    return f"None of the studies has {compared.to}; choose another rule with --to."


def _by_heading(found: Iterable[tuple[str, str, str]]) -> Words:
    """Return the sentences below each heading; rules with equal sentences share one sentence."""
    rules: dict[tuple[str, str], list[str]] = {}
    for heading, rule, sentence in found:
        rules.setdefault((heading, sentence), []).append(rule)
    words: Words = {heading: [] for heading, _ in rules}
    for (heading, sentence), some in rules.items():
        if sentence:
            words[heading].append(f"{', '.join(some)}: {sentence}.")
    return words
