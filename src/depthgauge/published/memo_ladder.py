"""The published ladders, and what was measured beside them."""

from __future__ import annotations

from typing import Any

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.published.compare import (
    FigureComparison,
    PublishedComparison,
    compare_figure,
    unlike_published,
)
from depthgauge.published.figures import published
from depthgauge.results.study import StudyResult

NAME = "memo-ladder"


def published_ladder(net: NetConfig) -> dict[str, Any]:
    """Return the published ladder of a network; one that was not published is refused."""
    ladders = {
        name: figures
        for name, figures in published()["ladder"].items()
        if isinstance(figures, dict)
    }
    name = f"d{net.width}_L{net.blocks}"
    if name not in ladders:
        known = [
            f"--width {figures['config']['width']} --blocks {figures['config']['blocks']}"
            for figures in ladders.values()
        ]
        raise UserError(
            f"no ladder was published for --width {net.width} --blocks {net.blocks}; there are: "
            f"{' and '.join(known)}"
        )
    return ladders[name]


def check_ladder(net: NetConfig) -> None:
    """Refuse a network of which no ladder was published."""
    published_ladder(net)


def compare_ladder(study: StudyResult) -> PublishedComparison:
    """Return every rung beside its published figure, and cross-checks with the main audit."""
    assert study.config.net is not None  # noqa: S101
    figures = published_ladder(study.config.net)
    unlike = unlike_published(study.config, figures["config"]["epochs"])
    rungs = [
        compare_figure(f"{label} k={rung.k}", values, figures[label][str(rung.k)], not unlike)
        for label, rule in study.rules.items()
        for rung in rule.ladder
        if (values := list(rung.accuracies.values())) and str(rung.k) in figures.get(label, {})
    ]
    checks = _cross_checks(study, study.config.net, alike=not unlike)
    return PublishedComparison(NAME, unlike, {"rungs": rungs, "cross_checks": checks})


def _cross_checks(study: StudyResult, net: NetConfig, *, alike: bool) -> list[FigureComparison]:
    """K = L against the audit's accuracy; DFA's k = 0 against the audit's frozen baseline."""
    audit = published()["main_audit"]
    if (net.width, net.blocks) != (audit["config"]["width"], audit["config"]["blocks"]):
        return []
    pairs = [
        (label, net.blocks, audit[label]["accuracy"], f"{label}: k = L, main audit")
        for label in study.rules
        if label in audit
    ]
    pairs.append(("dfa", 0, audit["frozen"]["accuracy"], "dfa: k = 0, frozen baseline"))
    return [
        compare_figure(what, values, figure, alike)
        for label, k, figure, what in pairs
        if (values := _accuracies(study, label, k))
    ]


def _accuracies(study: StudyResult, label: str, k: int) -> list[float]:
    rungs = study.rules[label].ladder if label in study.rules else ()
    return [value for rung in rungs if rung.k == k for value in rung.accuracies.values()]
