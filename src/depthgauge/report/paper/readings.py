"""The diagnostics of each rule, with thresholds and findings, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from depthgauge.report.paper.layer_tables import alignment_tables, perturbation_tables
from depthgauge.report.paper.numbers import (
    UNKNOWN,
    bounds,
    center,
    exact,
    points,
    powers,
    significant,
)
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.rule_words import intervals, level, pairing_words
from depthgauge.report.paper.section import Item, Section
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds


def diagnostics(study: StudyResult) -> Section:
    """Verdicts with what they rest on; then every reading."""
    judged = [view for view in study.rules.values() if view.control != "shallow"]
    items = [Item(f"Verdict, {view.label}", _verdict(view)) for view in judged]
    items += _confidence(study)
    rows = [row for view in judged for row in _rows(view, study.thresholds)]
    caption = (
        "Diagnostics over seeds: value, interval, where it fires, what was found. D2 fires where "
        "both of its readings are below their floors"
    )
    if any(row[1] in ("D2n", "D2s") for row in rows):
        caption += (
            ", or D2n in every seed. D2n is the least over networks, D2s the largest; D2s is "
        )
        caption += "never a verdict by itself"
    header = ["rule", "reading", "value", "interval", "fires if", "finding"]
    table = PaperTable("readings", study.name, f"{caption}.", header, rows)
    credit = [*alignment_tables(study), *perturbation_tables(study)]
    own = [replace(table, name=f"template-{table.name}") for table in credit]
    return Section("Diagnostics", tuple(items), (table, *own))


def _verdict(view: RuleResult) -> str:
    """In words, with its basis and why something is untested."""
    basis = {"audit": ", by the audit", "training": ", by the metrics of training"}
    reasons = [
        f"{d.id} untested, {powers(d.sentence)}" for d in view.findings if d.outcome == "untested"
    ]
    return "; ".join([str(view.verdict) + basis.get(view.basis, ""), *reasons])


def _confidence(study: StudyResult) -> list[Item]:
    judged = [view for view in study.rules.values() if view.findings]
    single = [view.label for view in judged if view.verdict.single_seed]
    items = []
    if len(single) < len(judged):
        rate, one = study.thresholds.error_rate, level(study.thresholds)
        text = (
            f"Student's t intervals over seeds at {one} each: of the logarithm for D1 and D2, of "
            f"the gain {pairing_words(study)}, for D3. All three hold at least "
            f"{100 * (1 - rate):.3g} % of the time where readings are about symmetric"
        )
        items.append(Item("Confidence", text))
    if single:
        text = f"point values without an error rate: {', '.join(single)}"
        items.append(Item("Single seed", text))
    return items


def _rows(view: RuleResult, t: Thresholds) -> Iterator[list[str]]:
    """D1, D2, D3 with their intervals; D2n and D2s over the audited networks."""
    found = {d.id: d.outcome for d in view.findings}
    for name, key, label, fires, shown in _READINGS:
        interval = intervals(view, name).get(key)
        if interval is not None or (name in found and key in _ALWAYS):
            yield [
                view.label,
                label,
                center(interval, shown),
                bounds(interval, shown),
                fires(t),
                found[name],
            ]
    reports = [network.report for network in view.networks if network.report is not None]
    numerics = [v for report in reports if (v := report.numerics.value) is not None]
    stability = [v for report in reports if (v := report.stability.value) is not None]
    if numerics:
        wrong = sum(value < t.numerics for value in numerics)
        finding = f"below in {wrong} of {len(numerics)}"
        yield _over_networks(view, "D2n", min(numerics), f"< {exact(t.numerics)}", finding)
    if stability:
        drift = sum(value > t.stability for value in stability)
        finding = f"drift in {drift} of {len(stability)}"
        yield _over_networks(view, "D2s", max(stability), f"> {exact(t.stability)}", finding)


_Fires = Callable[[Thresholds], str]
_READINGS: tuple[tuple[str, str, str, _Fires, Callable[[float | None], str]], ...] = (
    ("D1", "growth", "D1 growth", lambda t: f"> {exact(t.growth)}", significant),
    ("D2", "gradient", "D2 ‖g_L‖", lambda t: f"< {exact(t.gradient)}", significant),
    (
        "D2",
        "error_share",
        "D2 ‖g_L‖/‖e‖",
        lambda t: f"< {exact(t.error_share)}",
        significant,
    ),
    ("D3", "depth_gain", "D3 gain", lambda t: f"< {points(t.depth_gain)}", points),
)
_ALWAYS = ("growth", "gradient", "depth_gain")
"""Shown also where they were not measured."""


def _over_networks(
    view: RuleResult, label: str, value: float, fires: str, finding: str
) -> list[str]:
    return [view.label, label, significant(value), UNKNOWN, fires, finding]
