"""The four readings of the audit figure: where each is found, and on which side it is bad."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from depthgauge.report.figures.text import number
from depthgauge.studies.read_networks import ReadNetwork
from depthgauge.studies.rule_views import RuleView
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
    read: Callable[[ReadNetwork], float | None]
    bad: Literal["above", "below"]
    threshold: float | None
    log: bool = False
    interval: str = ""
    unit: float = 1.0

    def values(self, view: RuleView) -> list[float | None]:
        """Of each network of a rule."""
        read = [self.read(network) for network in view.networks]
        return [None if value is None else self.unit * value for value in read]

    def ends(self, view: RuleView) -> tuple[float, float] | None:
        """The rule's interval over seeds; an end that a file has as null is infinite."""
        found = _diagnostic(view, self.interval).get("intervals", {}).get(self.interval)
        if found is None or found["n"] == 1 or found["center"] is None:
            return None
        low, high = found["low"], found["high"]
        return (
            -math.inf if low is None else self.unit * low,
            math.inf if high is None else self.unit * high,
        )


def readings_to_draw(views: Sequence[RuleView], t: Thresholds) -> list[Decisive]:
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
        lambda network: network.growth,
        "above",
        t.growth,
        log=True,
        interval="growth",
    )


def _gradient(t: Thresholds) -> Decisive:
    return Decisive(
        "D2 reference",
        r"$\Vert g_L\Vert$ of a sample" f"\nlow below {number(t.gradient)}",
        lambda network: network.gradient,
        "below",
        t.gradient,
        log=True,
        interval="gradient",
    )


def _stability(t: Thresholds) -> Decisive:
    return Decisive(
        "D2s stability",
        f"cosine between batches\ndrift above {number(t.stability)}",
        lambda network: network.stability,
        "above",
        t.stability,
    )


def _gain(t: Thresholds, views: Sequence[RuleView]) -> Decisive:
    threshold = 100 * t.depth_gain
    findings = {_diagnostic(view, "depth_gain").get("finding", "untested") for view in views}
    applies = findings != {"untested"}
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


def _diagnostic(view: RuleView, interval: str) -> dict[str, Any]:
    return next((d for d in view.diagnostics if interval in d["intervals"]), {})
