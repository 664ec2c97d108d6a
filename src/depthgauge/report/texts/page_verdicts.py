"""The answer at the top of the page, and the evidence for each rule."""

from __future__ import annotations

from collections.abc import Collection

from depthgauge.diagnostics.finding import Outcome
from depthgauge.report.texts.diagnostics import finding_in_words
from depthgauge.report.texts.verdict_words import MEANINGS, Meaning
from depthgauge.results.rule import RuleResult

NOTHING_YET = "No run with all blocks trained is done yet."

ALARMS_FIRST: tuple[Outcome, ...] = ("fires", "straddles", "untested", "passes")


def answer(views: Collection[RuleResult]) -> list[tuple[Meaning, str, list[str]]]:
    """For each word that was given: what it means, the word, and which rules got it."""
    found = []
    for word, meaning in MEANINGS.items():
        own = [view for view in views if view.verdict.word == word and not view.control]
        for shown in sorted({shown_word(view) for view in own}):
            methods = [_with_depth(view) for view in own if shown_word(view) == shown]
            found.append((meaning, shown, methods))
    return found


def _with_depth(view: RuleResult) -> str:
    """A rule with how many blocks it trains, where that can be told; the rest is in its card."""
    if view.used_depth is None or not view.used_depth.has_estimate:
        return view.label
    return f"{view.label} ({str(view.used_depth).partition(' (')[0]} blocks)"


def shown_word(view: RuleResult) -> str:
    """The verdict's word, and a warning where one seed is all there is."""
    word = view.verdict.word
    return f"{word}, single seed" if view.verdict.single_seed and word != "not judged" else word


def evidence(view: RuleResult) -> str:
    """One sentence: what each diagnostic found, alarms first, then what could not be told."""
    if not view.findings:
        not_judged = view.verdict.word == "not judged"
        return NOTHING_YET if not_judged else "What embedding and readout do alone."
    ordered = sorted(view.findings, key=lambda finding: ALARMS_FIRST.index(finding.outcome))
    sentence = "; ".join(map(finding_in_words, ordered))
    return sentence[0].upper() + sentence[1:] + "."
