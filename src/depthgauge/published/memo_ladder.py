"""The comparison of a study with the published ladders."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.published.compare import (
    CROSS_CHECKS,
    FigureComparison,
    PublishedComparison,
    compare_figure,
    unlike_published,
)
from depthgauge.published.figures import PublishedLadder, published
from depthgauge.results.ladder import Ladder, Rung
from depthgauge.results.study import StudyResult

NAME = "memo-ladder"


def published_ladder(net: NetConfig) -> PublishedLadder:
    """Return the published ladder of a network; refuse a network that has none."""
    ladders = published().ladder.networks
    name = f"d{net.width}_L{net.blocks}"
    if name not in ladders:
        known = [
            f"--width {ladder.config.width} --depth {ladder.config.blocks}"
            for ladder in ladders.values()
        ]
        raise UserError(
            f"no ladder was published for --width {net.width} --depth {net.blocks}; use "
            f"{' or '.join(known)}"
        )
    return ladders[name]


def check_ladder(net: NetConfig) -> None:
    """Refuse a network for which no ladder was published."""
    published_ladder(net)


def compare_ladder(study: StudyResult) -> PublishedComparison:
    """Compare every rung of a study with its published figure."""
    return compare_rungs(study.ladder())


def compare_rungs(ladder: Ladder) -> PublishedComparison:
    """Compare every rung with its published figure, and some rungs also with the main audit."""
    if ladder.config.net is None:
        raise UserError(
            "this ladder does not name its network, so nothing can be compared; run the ladder "
            "again"
        )
    figures = published_ladder(ladder.config.net)
    unlike = unlike_published(ladder.config, figures.config.epochs)
    rungs = [
        compare_figure(f"{label} k={rung.k}", values, figures.rules[label][rung.k], not unlike)
        for label, own in ladder.rules.items()
        for rung in own
        if (values := list(rung.accuracies.values())) and rung.k in figures.rules.get(label, {})
    ]
    checks = _cross_checks(ladder, ladder.config.net, alike=not unlike)
    return PublishedComparison(NAME, unlike, {"rungs": rungs, CROSS_CHECKS: checks})


def _cross_checks(ladder: Ladder, net: NetConfig, *, alike: bool) -> list[FigureComparison]:
    """Compare two kinds of rungs with the accuracies of the published main audit.

    They are every rule's rung with all blocks trained, and DFA's rung with all blocks frozen.
    """
    audit = published().main_audit
    if (net.width, net.blocks) != (audit.config.width, audit.config.blocks):
        return []
    pairs = [
        (label, net.blocks, audit.rules[label].accuracy, f"{label}: k = L, main audit")
        for label in ladder.rules
        if label in audit.rules
    ]
    pairs.append(("dfa", 0, audit.frozen.accuracy, "dfa: k = 0, frozen baseline"))
    return [
        compare_figure(what, values, figure, alike)
        for label, k, figure, what in pairs
        if (values := _accuracies(ladder.rules.get(label, ()), k))
    ]


def _accuracies(rungs: Sequence[Rung], k: int) -> list[float]:
    return [value for rung in rungs if rung.k == k for value in rung.accuracies.values()]
