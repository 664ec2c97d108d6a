"""The four readings of the audit figure: where each is found, and on which side it is bad."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from depthgauge.diagnostics.finding import Finding
from depthgauge.report.figures.text import number
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import RuleResult
from depthgauge.verdict.thresholds import Thresholds


@dataclass(frozen=True)
class Decisive:
    """A reading that a diagnostic decides by.

    Attributes:
        title, label: above and below its panel.
        read: from a network; None where it was not read.
        bad: the side of the threshold on which the diagnostic fires.
        threshold: where that begins; None where it does not apply.
        log: whether the axis is logarithmic.
        interval: what the diagnostic calls its interval; empty where it has none.
        unit: factor from what is read to what is shown.
    """

    title: str
    label: str
    read: Callable[[NetworkResult], float | None]
    bad: Literal["above", "below"]
    threshold: float | None
    log: bool = False
    interval: str = ""
    unit: float = 1.0

    def values(self, view: RuleResult) -> list[float | None]:
        """Of each network of a rule."""
        read = [self.read(network) for network in view.networks]
        return [None if value is None else self.unit * value for value in read]

    def ends(self, view: RuleResult) -> tuple[float, float] | None:
        """The rule's interval over seeds; an end that a file has as null is infinite."""
        finding = _finding(view, self.interval)
        found = finding.intervals[self.interval] if finding else None
        if found is None or found.n == 1 or math.isinf(found.center):
            return None
        return self.unit * found.low, self.unit * found.high


def readings_to_draw(views: Collection[RuleResult], t: Thresholds) -> list[Decisive]:
    """Growth and gradient; stability and the gain from depth where they were read."""
    readings = [_growth(t), _gradient(t), _stability(t), _gain(t, views)]
    return [
        reading
        for reading in readings
        if reading.log or any(v is not None for view in views for v in reading.values(view))
    ]


def _growth(t: Thresholds) -> Decisive:
    return Decisive(
        "D1 scale",
        f"growth at the steepest block\nfires above {number(t.growth)}",
        lambda network: network.readings.get("growth"),
        "above",
        t.growth,
        log=True,
        interval="growth",
    )


def _gradient(t: Thresholds) -> Decisive:
    return Decisive(
        "D2 reference",
        r"$\Vert g_L\Vert$ of a sample" f"\nlow below {number(t.gradient)}",
        lambda network: network.readings.get("gradient"),
        "below",
        t.gradient,
        log=True,
        interval="gradient",
    )


def _stability(t: Thresholds) -> Decisive:
    return Decisive(
        "D2s stability",
        f"cosine between batches\ndrift above {number(t.stability)}",
        lambda network: network.readings.get("stability"),
        "above",
        t.stability,
    )


def _gain(t: Thresholds, views: Collection[RuleResult]) -> Decisive:
    threshold = 100 * t.depth_gain
    found = (_finding(view, "depth_gain") for view in views)
    applies = any(finding is not None and finding.outcome != "untested" for finding in found)
    fires = f"fires below {number(threshold)}" if applies else "not applicable on this task"
    return Decisive(
        "D3 depth utility",
        f"accuracy − frozen (points)\n{fires}",
        lambda network: network.gain,
        "below",
        threshold if applies else None,
        interval="depth_gain",
        unit=100,
    )


def _finding(view: RuleResult, interval: str) -> Finding | None:
    return next((found for found in view.findings if interval in found.intervals), None)
