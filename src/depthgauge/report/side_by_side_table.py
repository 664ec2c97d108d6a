"""Several studies as tables: every rule, the same rule in several, each rule against one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from depthgauge.diagnostics.intervals import WIDEST_SHARE
from depthgauge.number_format import TOO_FEW_SEEDS, percent, percent_spread, points
from depthgauge.report.audit_table import Table
from depthgauge.results.comparison import AgainstRule, ComparedRule, Comparison, SameRule
from depthgauge.results.paired_difference import Difference

DIFFERENCE = ["of", "n", "change", "95 % interval", "reading"]

WORDS = ("of", "reading")
"""Columns of words, which begin at the left."""

BASES = {"training": ", by metrics of training"}


def rule_table(compared: Comparison) -> Table:
    """Study, rule, seeds, accuracy, frozen baseline, gain, used depth, verdict and its basis."""
    header = ["study", "rule", "n", "acc", "frozen", "gain", "used depth", "verdict"]
    return header, [_rule_row(rule) for rule in compared.rules]


def same_rule_table(compared: Comparison) -> Table:
    """For each two studies and each rule of both: what changes from the first to the other."""
    rows = (
        [studies_of(pair), pair.label, *cells]
        for pair in compared.same_rules
        for cells in _difference_rows(pair.differences)
    )
    return ["studies", "rule", *DIFFERENCE], list(rows)


def against_table(compared: Comparison) -> Table:
    """For each rule that has something to be compared with: in what it differs from that."""
    rows = (
        [reference_of(one), one.label, *cells]
        for one in compared.against
        for cells in _difference_rows(one.differences)
    )
    return ["study", "rule", *DIFFERENCE], list(rows)


def by_first_column(table: Table) -> dict[str, Table]:
    """One table for each value of the first column, without it; a rule is named once in each."""
    header, rows = table
    parts: dict[str, list[list[str]]] = {}
    named: set[tuple[str, str]] = set()
    for name, rule, *cells in rows:
        parts.setdefault(name, []).append(["" if (name, rule) in named else rule, *cells])
        named.add((name, rule))
    return {name: (header[1:], part) for name, part in parts.items()}


def studies_of(pair: SameRule) -> str:
    """The two studies, from the first to the other."""
    return f"{pair.first} → {pair.other}"


def reference_of(one: AgainstRule) -> str:
    """A study, and whose reference rule its rules are compared with where that is not its own."""
    if one.reference_study in (None, one.study):
        return one.study
    return f"{one.study}, against {one.reference} of {one.reference_study}"


def _rule_row(rule: ComparedRule) -> list[str]:
    seeds = ", ".join(map(str, rule.diverged_seeds))
    return [
        rule.study,
        rule.label,
        str(rule.accuracy.n),
        percent_spread(rule.accuracy),
        percent(rule.frozen.mean),
        points(rule.gain.mean),
        rule.used_depth or "–",
        rule.verdict_in_words
        + BASES.get(rule.basis, "")
        + (f"; diverged: seed {seeds}" if seeds else ""),
    ]


def _difference_rows(differences: Sequence[Difference]) -> Iterable[list[str]]:
    """One for each quantity; a rung that is the full run or the frozen one again is left out."""
    shown: list[Difference] = []
    for one in differences:
        if not any(_equal(one, before) for before in shown):
            shown.append(one)
    return map(_difference_row, shown)


def _equal(one: Difference, before: Difference) -> bool:
    return (one.first, one.other, one.by_seed) == (before.first, before.other, before.by_seed)


def _difference_row(one: Difference) -> list[str]:
    return [
        one.of,
        str(one.n),
        _change(one),
        _ends(one),
        one.reading,
    ]


def _ends(one: Difference) -> str:
    if one.low is None or one.high is None:
        return "–"
    if one.high - one.low > WIDEST_SHARE:
        return TOO_FEW_SEEDS
    return f"[{points(one.low, 2)}, {points(one.high, 2)}]"


def _change(one: Difference) -> str:
    """The difference; where no seed is common, the means themselves."""
    if one.mean is None:
        return f"{percent(one.first)} → {percent(one.other)}"
    return "0" if one.identical else points(one.mean, 2)
