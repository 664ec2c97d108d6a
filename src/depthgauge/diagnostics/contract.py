"""The declaration of a diagnostic, from which verdicts, thresholds, tables and charts are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import Interval
from depthgauge.number_format import TOO_FEW_SEEDS, in_form

if TYPE_CHECKING:
    from depthgauge.diagnostics.evidence import RuleEvidence
    from depthgauge.gauges.epoch_metrics import EpochMetrics
    from depthgauge.gauges.network_readings import NetworkReadings

Readings = Mapping[str, float | None]
"""The readings of one trained network, by name. A reading not taken is None or missing."""

Side = Literal["above", "below"]


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number that a diagnostic takes from each network.

    Attributes:
        name: its name in readings, intervals and documents.
        label: its name in tables.
        from_network: takes the number from the gauges' readings of a network; returns None where
            the number is undefined.
        from_epoch: takes the number from one line of a run's metrics; returns None where the line
            has none. Leave it out for a number that training does not record.
        if_diverged: the value for a network whose training diverged.
        log: whether intervals are computed from logarithms, and axes are logarithmic.
        widest: the largest width of an informative interval; a wider interval means too few
            seeds. With `log`, the width is the factor between the ends.
        form, factor, unit: how the number is shown: multiplied by `factor`, formatted by `form`,
            and with the unit `unit`.
    """

    name: str
    label: str
    from_network: Callable[[NetworkReadings], float | None]
    from_epoch: Callable[[EpochMetrics], float | None] | None = None
    if_diverged: float | None = None
    log: bool = False
    widest: float = math.inf
    form: str = "{:.3g}"
    factor: float = 1.0
    unit: str = ""

    def show(self, value: float | None) -> str:
        """Write a value for a reader, without its unit."""
        return in_form(None if value is None else self.factor * value, self.form)

    def is_too_wide(self, interval: Interval, limit: float | None = None) -> bool:
        """Return whether an interval is wider than `widest`.

        If `limit` is given, only an interval that contains the limit is too wide. For any other
        interval, it is known on which side of the limit the quantity lies.
        """
        return interval.is_wider_than(self.widest, self.log) and (
            limit is None or interval.low <= limit <= interval.high
        )

    def show_interval(self, interval: Interval, settled: bool = False) -> str:
        """Write the mean over seeds and, if there is more than one seed, the interval.

        "[too few seeds]" replaces an interval that is too wide. An interval that lies on one side
        of its threshold is `settled`, and is never replaced.
        """
        center = self.show(interval.center)
        if interval.is_point:
            return center
        if not settled and self.is_too_wide(interval):
            return f"{center} {TOO_FEW_SEEDS}"
        return f"{center} [{self.show(interval.low)}, {self.show(interval.high)}]"


@dataclass(frozen=True)
class Threshold:
    """The value at which a quantity becomes bad: its default, its meaning, and the bad side."""

    name: str
    default: float
    quantity: Quantity
    fires: Side
    meaning: str

    def fires_if(self, value: float) -> str:
        """Write the condition for a table, with the value in use: `> 50`."""
        return f"{'>' if self.fires == 'above' else '<'} {self.quantity.factor * value:g}"


@dataclass(frozen=True)
class Column:
    """A column in tables of networks: a header and a quantity."""

    header: str
    quantity: Quantity


@dataclass(frozen=True)
class Chart:
    """The facts of a diagnostic's chart.

    Attributes:
        axis: the title of the axis.
        threshold: the threshold that is drawn as a line; its bad side is shaded.
        word: the first word of the line's label, before "above" or "below" and the value.
    """

    axis: str
    threshold: Threshold
    word: str = "fires"

    @property
    def quantity(self) -> Quantity:
        """Return the quantity that the chart draws."""
        return self.threshold.quantity


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One question about a rule's networks, the way to decide it, and the way reports show it.

    Attributes:
        id, title: for example "D1" and "scale".
        meaning: one or two sentences for a newcomer.
        fires_when: the end of the sentence "It fires where …".
        quantities: the numbers that it takes from each network.
        thresholds: the thresholds of these numbers.
        decide: returns the finding over seeds. Each interval in the finding has the name of its
            quantity, because threshold sensitivity looks up intervals by this name.
        in_words: returns the finding as a clause for a newcomer, whatever the outcome.
        columns: its columns in tables of networks.
        chart: the facts of its chart, if it has one.
        counts: whether it has a part in the verdict. If not, reports show it beside the verdict.
    """

    id: str
    title: str
    meaning: str
    fires_when: str
    quantities: tuple[Quantity, ...]
    thresholds: tuple[Threshold, ...]
    decide: Callable[[RuleEvidence], Finding]
    in_words: Callable[[Finding], str]
    columns: tuple[Column, ...] = ()
    chart: Chart | None = None
    counts: bool = True

    @property
    def name(self) -> str:
        """Return id and title: "D1 scale"."""
        return f"{self.id} {self.title}"

    @property
    def recorded(self) -> tuple[Quantity, ...]:
        """Return the quantities that training records after every epoch."""
        return tuple(q for q in self.quantities if q.from_epoch is not None)
