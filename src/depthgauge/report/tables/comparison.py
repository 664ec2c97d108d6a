"""Tables of several studies: all rules, changes between studies, and rules against a reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from depthgauge.diagnostics.intervals import WIDEST_SHARE
from depthgauge.number_format import MISSING, TOO_FEW_SEEDS, percent, percent_spread, points
from depthgauge.report.tables.table import Cell, Column, Table, make_table, numbers, words
from depthgauge.results.comparison import AgainstRule, ComparedRule, Comparison, SameRule
from depthgauge.results.paired_difference import Difference

DIFFERENCE = (
    *words("of"),
    *numbers("n", "change", "95 % interval"),
    *words("reading"),
)

BASES = {"training": ", by metrics of training"}

POINTS_DIGITS = 2


def rule_table(compared: Comparison) -> Table:
    """Return every rule of every study with its accuracies, used depth and verdict."""
    columns = [
        *words("study", "rule"),
        *numbers("n", "accuracy", "frozen", "gain", "used depth"),
        Column("verdict", "verdict"),
    ]
    rows = [_rule_row(rule) for rule in compared.rules]
    return make_table("rules", "Every rule of every study", columns, rows)


def same_rule_table(compared: Comparison) -> Table:
    """Return the changes from one study to another, for each rule that both studies have."""
    rows = (
        [studies_of(pair), pair.label, *cells]
        for pair in compared.same_rules
        for cells in _difference_rows(pair.differences)
    )
    columns = [*words("studies", "rule"), *DIFFERENCE]
    return make_table("same-rule", "The same rule in several studies", columns, rows)


def against_table(compared: Comparison) -> Table:
    """Return the differences of each rule from the reference rule."""
    rows = (
        [reference_of(rule), rule.label, *cells]
        for rule in compared.against
        for cells in _difference_rows(rule.differences)
    )
    columns = [*words("study", "rule"), *DIFFERENCE]
    return make_table("against", f"Each rule against {compared.to}", columns, rows)


def by_first_column(table: Table) -> dict[str, Table]:
    """Return one table for each value of the first column, without that column.

    In each table, only the first row of a rule names the rule.
    """
    parts: dict[str, list[tuple[Cell, ...]]] = {}
    named: set[tuple[str, str]] = set()
    for name, rule, *cells in table.rows:
        is_named = (name.text, rule.text) in named
        parts.setdefault(name.text, []).append((Cell("") if is_named else rule, *cells))
        named.add((name.text, rule.text))
    return {
        name: replace(table, columns=table.columns[1:], rows=tuple(rows))
        for name, rows in parts.items()
    }


def studies_of(pair: SameRule) -> str:
    """Return the names of two studies, joined by an arrow."""
    return f"{pair.first} → {pair.other}"


def reference_of(rule: AgainstRule) -> str:
    """Return the name of a rule's study.

    If the reference rule is from another study, the reference rule and its study are added.
    """
    if rule.reference_study in (None, rule.study):
        return rule.study
    return f"{rule.study}, against {rule.reference} of {rule.reference_study}"


def _rule_row(rule: ComparedRule) -> list[str]:
    seeds = ", ".join(map(str, rule.diverged_seeds))
    diverged = f"; diverged: seed {seeds}" if seeds else ""
    return [
        rule.study,
        rule.label,
        str(rule.accuracy.n),
        percent_spread(rule.accuracy),
        percent(rule.frozen.mean),
        points(rule.gain.mean),
        rule.used_depth or MISSING,
        rule.verdict_in_words + BASES.get(rule.basis, "") + diverged,
    ]


def _difference_rows(differences: Sequence[Difference]) -> Iterable[list[str]]:
    """Return one row for each difference; a difference that repeats an earlier one is left out."""
    shown: list[Difference] = []
    for difference in differences:
        if not any(_is_equal(difference, before) for before in shown):
            shown.append(difference)
    return map(_difference_row, shown)


def _is_equal(one: Difference, other: Difference) -> bool:
    return (one.first, one.other, one.by_seed) == (other.first, other.other, other.by_seed)


def _difference_row(difference: Difference) -> list[str]:
    return [
        difference.of,
        str(difference.n),
        _change(difference),
        _interval(difference),
        difference.reading,
    ]


def _interval(difference: Difference) -> str:
    low, high = difference.low, difference.high
    if low is None or high is None:
        return MISSING
    if high - low > WIDEST_SHARE:
        return TOO_FEW_SEEDS
    return f"[{points(low, POINTS_DIGITS)}, {points(high, POINTS_DIGITS)}]"


def _change(difference: Difference) -> str:
    """Return the mean change; if the studies have no seed in common, the two means."""
    if difference.mean is None:
        return f"{percent(difference.first)} → {percent(difference.other)}"
    return "0" if difference.identical else points(difference.mean, POINTS_DIGITS)
