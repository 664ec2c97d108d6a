"""What a diagnostic declares; verdicts, thresholds and whatever shows them are made from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from depthgauge.diagnostics.finding import Finding
from depthgauge.diagnostics.intervals import TOO_FEW_SEEDS, Interval

if TYPE_CHECKING:
    from depthgauge.diagnostics.case import Case
    from depthgauge.gauges.epoch_metrics import EpochMetrics
    from depthgauge.gauges.network_readings import NetworkReadings

Readings = Mapping[str, float | None]
"""What one trained network gives the diagnostics, by name; None or missing: it was not read."""

Side = Literal["above", "below"]

UNKNOWN = "–"
THOUSAND, MILLION = 1e3, 1e6
"""Numbers between these are written out, not with a power of ten."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number that a diagnostic reads off each network.

    Attributes:
        name: in readings, intervals and documents.
        label: in tables.
        from_network: takes it from what the gauges read; None where it is undefined.
        from_epoch: takes it from one line of a run's metrics, None where the line does not have
            it; left out where training does not record it.
        if_diverged: what it counts as in a network whose training diverged.
        log: whether its interval is that of the logarithm, and its axis logarithmic.
        widest: an interval that is wider says nothing: there are too few seeds. With `log`, the
            factor between its ends.
        form, factor, unit: it is shown as `form` of `factor` times the number, in `unit`.
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
        """Write a value of it for a reader, without its unit."""
        if value is None or math.isnan(value):
            return UNKNOWN
        scaled = self.factor * value
        if math.isinf(scaled):
            return "∞" if scaled > 0 else "−∞"
        text = self.form.format(scaled)
        if THOUSAND <= abs(scaled) < MILLION:
            text = f"{float(text):,.0f}"
        mantissa, e, exponent = text.partition("e")
        return mantissa.replace("-", "−") + (f"e{int(exponent)}" if e else "")

    def says_nothing(self, found: Interval, limit: float | None = None) -> bool:
        """Return whether an interval of it is too wide; one that settles the limit says that."""
        return found.is_wider_than(self.widest, self.log) and (
            limit is None or found.low <= limit <= found.high
        )

    def show_interval(self, found: Interval, settled: bool = False) -> str:
        """Write its mean over seeds, and the interval where there is more than one seed.

        Where that is too wide to say anything there are too few seeds; unless it has `settled`
        something all the same.
        """
        center = self.show(found.center)
        if found.is_point:
            return center
        if not settled and self.says_nothing(found):
            return f"{center} {TOO_FEW_SEEDS}"
        return f"{center} [{self.show(found.low)}, {self.show(found.high)}]"


@dataclass(frozen=True)
class Threshold:
    """Where a quantity becomes bad: its default, its meaning, and the bad side."""

    name: str
    default: float
    quantity: Quantity
    fires: Side
    meaning: str

    def fires_if(self, value: float) -> str:
        """Write the condition for a table, with the value that was used: `> 50`."""
        return f"{'>' if self.fires == 'above' else '<'} {self.quantity.factor * value:g}"


@dataclass(frozen=True)
class Column:
    """A column in tables of networks: its header, and the quantity that it shows."""

    header: str
    quantity: Quantity


@dataclass(frozen=True)
class Chart:
    """The facts of a diagnostic's chart: whether it is logarithmic, its quantity says.

    Attributes:
        axis: what stands at the axis.
        threshold: drawn as a line, with its bad side shaded.
        word: what stands at the line, before "above" or "below" and the value.
    """

    axis: str
    threshold: Threshold
    word: str = "fires"

    @property
    def quantity(self) -> Quantity:
        """What is drawn."""
        return self.threshold.quantity


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One question to the networks of a rule, with everything that is shown of its answer.

    Attributes:
        id, title: "D1" and "scale".
        meaning: one or two sentences for somebody who sees it for the first time.
        fires_when: completes "It fires where …".
        quantities: what it reads off each network.
        thresholds: what those are held to.
        decide: the finding over seeds. Its intervals are named as the quantities are: threshold
            sensitivity takes their ends.
        in_words: the finding as a clause for a newcomer, whatever the outcome.
        columns: in tables of networks.
        chart: its facts, where it has one.
        counts: whether it has a part in the verdict; if not, it is reported beside it.
    """

    id: str
    title: str
    meaning: str
    fires_when: str
    quantities: tuple[Quantity, ...]
    thresholds: tuple[Threshold, ...]
    decide: Callable[[Case], Finding]
    in_words: Callable[[Finding], str]
    columns: tuple[Column, ...] = ()
    chart: Chart | None = None
    counts: bool = True

    @property
    def name(self) -> str:
        """Id and title: "D1 scale"."""
        return f"{self.id} {self.title}"

    @property
    def recorded(self) -> tuple[Quantity, ...]:
        """Those of its quantities that training records after every epoch."""
        return tuple(q for q in self.quantities if q.from_epoch is not None)
