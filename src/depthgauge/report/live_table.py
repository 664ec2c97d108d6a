"""A study that is being trained: what each rule has come to so far, as a table and in a line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from depthgauge.report.audit_table import percent
from depthgauge.scheduling.live import LiveRule

MOST = 12
"""So many rules are shown one by one."""

HEADER = ["rule", "runs", "epoch", "acc", "frozen", "fired so far"]


def live_rows(rules: Sequence[LiveRule]) -> list[list[str | Text]]:
    """One row for each rule; of many, those that are being trained first of all."""
    shown = _chosen(rules)
    rows = [_row(rule) for rule in shown]
    if len(rules) > len(shown):
        rows.append([f"… and {len(rules) - len(shown)} more", *([""] * (len(HEADER) - 1))])
    return rows


def live_words(rules: Sequence[LiveRule]) -> str:
    """The same in a line: `bp 70.1 %, dfa 26.0 % D1`; empty where nothing has begun."""
    begun = [rule for rule in rules if rule.full.begun]
    shown = _chosen(begun)
    words = [" ".join([rule.rule, *_brief(rule)]) for rule in shown]
    if len(begun) > len(shown):
        words.append(f"and {len(begun) - len(shown)} more")
    return ", ".join(words)


def _chosen(rules: Sequence[LiveRule]) -> list[LiveRule]:
    """Those under way before those that have ended, then the others; in their own order."""

    def rank(position: int) -> tuple[bool, bool]:
        return not rules[position].begun, rules[position].ended

    return [rules[position] for position in sorted(sorted(range(len(rules)), key=rank)[:MOST])]


def _row(rule: LiveRule) -> list[str | Text]:
    begun = rule.full if rule.full.begun else rule.frozen
    return [
        rule.rule,
        f"{rule.finished}/{rule.runs}",
        f"{_range(begun.epochs)}/{rule.epochs}" if begun.epochs else "–",
        percent(rule.full.accuracy),
        percent(rule.frozen.accuracy),
        Text(_what_happened(rule)),
    ]


def _range(epochs: tuple[int, int]) -> str:
    first, last = epochs
    return f"{first}" if first == last else f"{first}–{last}"


def _what_happened(rule: LiveRule) -> str:
    of = rule.full.begun
    words = [f"{one.name} in {one.runs} of {of} from epoch {one.epoch}" for one in rule.fired]
    if not words:
        words = ["none" if of else "–"]
    diverged = rule.full.diverged + rule.frozen.diverged
    for count, what in ((diverged, "diverged"), (rule.failed, "failed")):
        words += [f"{count} {what}"] if count else []
    return ", ".join(words)


def _brief(rule: LiveRule) -> list[str]:
    known = rule.full.accuracy is not None
    return [
        f"{percent(rule.full.accuracy)} %" if known else "diverged",
        *(f.name for f in rule.fired),
    ]
