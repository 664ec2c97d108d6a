"""The verdicts: one row for each rule, with its used depth, its accuracies and the findings."""

from __future__ import annotations

from depthgauge.diagnostics.depth_utility import GAIN
from depthgauge.diagnostics.registry import verdict_diagnostics
from depthgauge.diagnostics.used_depth import UsedDepth
from depthgauge.number_format import MISSING, percent, percent_spread, points, with_bounds
from depthgauge.report.tables.table import Cell, Column, Table, make_table, numbers, words
from depthgauge.report.texts.captions import accuracy_words, basis_words, gain_interval
from depthgauge.results.floors import LINEAR
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.scheduling.variations import SHALLOW

BRIEF = ("rule", "used depth", "verdict", "accuracy", "frozen")
"""The columns of the short table that terminals and notebooks show."""


def verdict_table(study: StudyResult) -> Table:
    """Return one row for each rule: used depth, verdict, accuracies and findings.

    The last row is the linear floor.
    """
    diagnostics = [diagnostic.id for diagnostic in verdict_diagnostics()]
    columns = [
        *words("rule"),
        *numbers("used depth"),
        Column("verdict", "verdict"),
        *numbers("n", "accuracy", "frozen", "gain"),
        *words(*diagnostics),
    ]
    rows = [_row(study, rule, diagnostics) for rule in study.rules.values()]
    rows += [_floor(study, len(columns))] if rows and study.floors and study.floors.linear else []
    return make_table("verdicts", _caption(study), columns, rows)


def depth_text(depth: UsedDepth | None) -> str:
    """Return the used depth as text, such as `3 of 4`; a dash without a ladder."""
    return MISSING if depth is None else str(depth)


def frozen_text(rule: RuleResult) -> str:
    """Return the frozen accuracy.

    If the trained accuracy has another number of seeds, the number of frozen seeds is added.
    """
    n = rule.frozen.n
    return percent_spread(rule.frozen) + (f" (n = {n})" if n and n != rule.accuracy.n else "")


def _row(study: StudyResult, rule: RuleResult, diagnostics: list[str]) -> list[Cell | str]:
    found = {finding.id: finding.outcome for finding in rule.findings}
    gain = with_bounds(GAIN, gain_interval(rule, study.thresholds), points)
    is_floor = rule.label == SHALLOW
    return [
        Cell(rule.label, runs={"rule": rule.label} if study.runs else None),
        depth_text(rule.used_depth),
        "floor: no blocks" if is_floor else str(rule.verdict) + _diverged(rule),
        str(rule.accuracy.n),
        Cell(percent_spread(rule.accuracy), runs=_runs(rule, rule.blocks)),
        Cell(frozen_text(rule), runs=_runs(rule, 0) if rule.frozen.n else None),
        gain,
        *(found.get(one, MISSING) for one in diagnostics),
    ]


def _runs(rule: RuleResult, k: int | None) -> dict[str, str] | None:
    """Return the filter that finds the runs behind an accuracy; None if no runs are known."""
    has_runs = k is not None and any(
        rung.k == k and (rung.runs or rung.lost) for rung in rule.ladder
    )
    return {"rule": rule.label, "k": str(k)} if has_runs else None


def _diverged(rule: RuleResult) -> str:
    seeds = ", ".join(map(str, rule.diverged_seeds))
    return f"; diverged: seed {seeds}" if seeds else ""


def _floor(study: StudyResult, columns: int) -> list[Cell | str]:
    """Return the row of the linear classifier: its accuracy, or the reason why there is none."""
    linear = study.floors.linear if study.floors else None
    reason = (linear.reason if linear else "") or "floor: no network"
    accuracy = percent(linear.accuracy if linear else None)
    row: list[Cell | str] = [LINEAR, MISSING, reason, MISSING, accuracy]
    return row + [MISSING] * (columns - len(row))


def _caption(study: StudyResult) -> str:
    caption = (
        f"Verdict of each rule: {accuracy_words(study)}; used depth: how many blocks earn "
        "accuracy; frozen: blocks as they were initialised. "
        f"{basis_words(study.rules.values())}"
    )
    if study.chance is not None:
        caption += f" Chance: {percent(study.chance)} %."
    return caption if study.is_complete else f"{caption} The study is not complete."
