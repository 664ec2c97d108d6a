"""Texts of verdicts on the page: the rules by verdict at the top, and the evidence on the cards."""

from __future__ import annotations

from collections.abc import Collection

from depthgauge.diagnostics.finding import Outcome
from depthgauge.report.texts.diagnostics import finding_in_words
from depthgauge.report.texts.verdict_words import MEANINGS, Meaning
from depthgauge.results.rule import RuleResult

NOTHING_YET = "No run with all blocks trained is done yet."

ALARMS_FIRST: tuple[Outcome, ...] = ("fires", "straddles", "untested", "passes")


def answer(views: Collection[RuleResult]) -> list[tuple[Meaning, str, list[str]]]:
    """Return for each verdict that a rule got: its meaning, its word, and the rules that got it."""
    found = []
    for word, meaning in MEANINGS.items():
        own = [view for view in views if view.verdict.word == word and not view.control]
        for shown in sorted({shown_word(view) for view in own}):
            methods = [_with_depth(view) for view in own if shown_word(view) == shown]
            found.append((meaning, shown, methods))
    return found


def _with_depth(view: RuleResult) -> str:
    """Return a rule's label; the used depth is added if it is known."""
    if view.used_depth is None or not view.used_depth.has_estimate:
        return view.label
    return f"{view.label} ({str(view.used_depth).partition(' (')[0]} blocks)"


def shown_word(view: RuleResult) -> str:
    """Return the word of a rule's verdict, with a warning if the verdict rests on a single seed."""
    word = view.verdict.word
    return f"{word}, single seed" if view.verdict.single_seed and word != "not judged" else word


def evidence(view: RuleResult) -> str:
    """Return one sentence with the finding of each diagnostic: alarms first, passes last."""
    if not view.findings:
        not_judged = view.verdict.word == "not judged"
        return NOTHING_YET if not_judged else "Embedding and readout alone reach this accuracy."
    ordered = sorted(view.findings, key=lambda finding: ALARMS_FIRST.index(finding.outcome))
    sentence = "; ".join(map(finding_in_words, ordered))
    return sentence[0].upper() + sentence[1:] + "."
