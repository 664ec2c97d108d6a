"""The audit in words: why each rule got its verdict, and how firmly it stands."""

from __future__ import annotations

from depthgauge.diagnosis.report_text import write_range
from depthgauge.number_format import counted
from depthgauge.report.texts.floors import floor_sentences, not_above
from depthgauge.report.texts.settings_and_controls import recipe_sentences, tuning_sentence
from depthgauge.report.texts.used_depth import depth_sentences
from depthgauge.report.texts.verdict_sentence import verdict_sentence
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import EarlierVerdict
from depthgauge.results.study import StudyResult


def question(study: StudyResult) -> str:
    """Return what an audit asks, and of what: the first line of its answer."""
    net, seeds = study.config.net, counted(len(study.seeds), "seed")
    of = f"{counted(net.blocks, 'block')}, " if net else ""
    return f"Which rules train the depth of the network? {study.config.task.name}, {of}{seeds}"


def legend(study: StudyResult) -> str:
    """Return how the table of verdicts is to be read, and how sure it is."""
    sure = f"{100 * (1 - study.thresholds.error_rate):g} % sure"
    if len(study.seeds) == 1:
        sure = "of one seed, so nothing says how sure they are"
    return (
        "Used depth: how many blocks gain accuracy by being trained. Accuracy is in %; frozen: no "
        f"block trained.\nUsed depth and intervals in brackets are {sure}."
    )


def brief_sentences(study: StudyResult) -> list[str]:
    """Return one sentence for each rule, then what settings and controls say."""
    if study.audit is None:
        return []
    rules = [rule for rule in study.rules.values() if not rule.control]
    words = [verdict_sentence(rule, study.floors) for rule in rules]
    return [*words, *recipe_sentences(study.audit, with_floor=False)]


def audit_sentences(study: StudyResult) -> list[str]:
    """For each rule its diagnostics and what it sees; then the task, the controls, the settings."""
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
                f"{label} keeps its verdict for any one threshold within: {'; '.join(ranges)}."
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
    """What earlier audits said, fewest seeds first, with the rules they said it of."""
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
        f"An earlier audit {', one '.join(audits)}; looking again and again makes a wrong word "
        "likelier: see docs/verdict.md."
    ]


def _untrained(audit: Audit) -> list[str]:
    if not audit.untrained:
        return []
    words = sorted({report.verdict for report in audit.untrained.values()})
    count = len(audit.untrained)
    networks = f"{count} untrained network{'s' if count > 1 else ''}"
    return [f"As a control, {networks}: {' / '.join(words)}."]
