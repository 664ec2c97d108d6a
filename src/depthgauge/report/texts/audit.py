"""Sentences on an audit: why each rule got its verdict, and how firm the verdict is."""

from __future__ import annotations

from depthgauge.diagnosis.report_text import write_range
from depthgauge.number_format import counted
from depthgauge.report.texts.floors import floor_sentences, not_above
from depthgauge.report.texts.settings_and_controls import recipe_sentences, tuning_sentence
from depthgauge.report.texts.used_depth import depth_sentences
from depthgauge.report.texts.verdict_sentence import verdict_sentence
from depthgauge.report.texts.verdict_words import MEANINGS
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import EarlierVerdict
from depthgauge.results.study import StudyResult


def question(study: StudyResult) -> str:
    """Return the question that an audit answers, with the study's task, blocks and seeds."""
    return f"Which rules train the depth of the network? {studied(study)}"


def studied(study: StudyResult) -> str:
    """Return the task of a study, the number of blocks, and the number of seeds."""
    net, seeds = study.config.net, counted(len(study.seeds), "seed")
    of = f"{counted(net.blocks, 'block')}, " if net else ""
    return f"{study.config.task.name}, {of}{seeds}"


TABLE_LEGEND = "Accuracy: % over seeds, ± their standard deviation; frozen: no block trained."


def meanings_of_words(study: StudyResult) -> list[str]:
    """Return the meaning of each verdict that a rule of the study got, except *trustworthy*."""
    given = {rule.verdict.word for rule in study.rules.values() if not rule.control}
    return [
        f"{word[0].upper()}{word[1:]}: {meaning.gloss}."
        for word, meaning in MEANINGS.items()
        if word in given and word != "trustworthy"
    ]


def how_sure(study: StudyResult) -> tuple[str, str]:
    """Return two sentences: what used depth means, and how sure used depth and intervals are."""
    sure = f"{100 * (1 - study.thresholds.error_rate):g} % sure"
    if len(study.seeds) == 1:
        sure = "from one seed, without a known error rate"
    return (
        "Used depth: how many blocks gain accuracy by being trained.",
        f"Used depth and intervals in brackets are {sure}.",
    )


def brief_sentences(study: StudyResult) -> list[str]:
    """Return a sentence on each rule's verdict, then the sentences on settings and controls."""
    if study.audit is None:
        return []
    rules = [rule for rule in study.rules.values() if not rule.control]
    words = [verdict_sentence(rule, study.floors) for rule in rules]
    return [*words, *recipe_sentences(study.audit, with_floor=False)]


def audit_sentences(study: StudyResult) -> list[str]:
    """Return all sentences on an audit.

    Sentences on the findings of each rule come first. Sentences on the task, earlier audits,
    tuning, floors, settings and controls follow.
    """
    audit, words = study.audit, list[str]()
    if audit is None:
        return words
    for label, entry in audit.verdicts.items():
        if entry.control:
            continue
        words += [first] if (first := not_above(study.floors, label)) else []
        words += depth_sentences(label, entry.used_depth)
        words += [f"{label} {d.id} {d.outcome}: {d.sentence}." for d in entry.findings]
        words += [f"{label} {entry.access}."] if entry.access else []
        ranges = [f"{stable.threshold} {write_range(stable)}" for stable in entry.sensitivity]
        if ranges:
            words.append(
                f"{label} keeps its verdict if one threshold changes within: {'; '.join(ranges)}."
            )
    if audit.bp_gain is None:
        words.append(
            "Whether depth helps on this task is not known: bp was not audited with a frozen "
            "baseline."
        )
    if audit.config.frozen_acc:
        words.append(
            "Frozen baselines were given as one number for each rule, so gains from "
            "depth are not paired by seed, and their intervals leave out the baselines' spread."
        )
    words += _earlier(audit)
    tuning = tuning_sentence(study)
    words += [tuning] if tuning else []
    return [*words, *floor_sentences(study.floors), *_untrained(audit), *recipe_sentences(audit)]


def _earlier(audit: Audit) -> list[str]:
    """Return a sentence that names each rule's verdicts in earlier audits, fewest seeds first."""
    labels: dict[EarlierVerdict, list[str]] = {}
    for label, entry in audit.verdicts.items():
        for earlier in entry.earlier:
            labels.setdefault(earlier, []).append(label)
    if not labels:
        return []
    said: dict[int, list[str]] = {}
    for earlier, rules in labels.items():
        said.setdefault(earlier.seeds, []).append(f"{earlier.word} ({', '.join(rules)})")
    audits = [
        f"with {counted(seeds, 'seed')} said {' and '.join(words)}"
        for seeds, words in sorted(said.items())
    ]
    return [
        f"An earlier audit {', another '.join(audits)}; each further audit makes a wrong verdict "
        "likelier: see docs/verdict.md."
    ]


def _untrained(audit: Audit) -> list[str]:
    if not audit.untrained:
        return []
    words = sorted({report.verdict for report in audit.untrained.values()})
    count = len(audit.untrained)
    networks = f"{count} untrained network{'s' if count > 1 else ''}"
    return [f"Verdict on {networks}, as a control: {' / '.join(words)}."]
