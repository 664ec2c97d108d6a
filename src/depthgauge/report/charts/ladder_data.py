"""The data of a ladder's chart: means over seeds, seeds, twins, floors and names."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from depthgauge.controls import control_in
from depthgauge.report.charts.labels import plain
from depthgauge.results.ladder import Ladder, Rung

APART, SPREAD = 0.06, 0.15
"""Rules stand side by side at each k: their distance, and their largest distance from k."""

MOST_NAMES = 8
"""Up to so many curves have their names at their ends; more curves are named in the legend."""

ROOM = 0.3
"""Room on the axis before the first and after the last k."""

LINES_APART = 0.05
"""Smallest distance between two names above each other, as a share of the axis."""

LONGEST_NAME = 16
"""Most letters of a name beside a curve."""

TWIN = ", with noise as the credit of the added block"

OTHER_BLOCKS = ("shallow", "wide_block")
"""Controls whose networks have another number of blocks than the ladder counts."""


@dataclass(frozen=True)
class RungPoint:
    """A rung's mean over seeds; `low` and `high` are None if the interval is missing or too wide.

    The single seeds of a swap twin are not drawn. So the twin's mean links to one of its runs,
    `run`; for all other means `run` is None.
    """

    rule: str
    place: float
    accuracy: float
    low: float | None
    high: float | None
    says: str
    run: str | None = None


@dataclass(frozen=True)
class SeedPoint:
    """The accuracy of one run."""

    rule: str
    place: float
    accuracy: float
    run: str
    says: str


@dataclass(frozen=True)
class LostPoint:
    """A mark at the bottom of the chart for a rung whose runs diverged or failed."""

    rule: str
    place: float
    accuracy: float
    says: str


@dataclass(frozen=True)
class FrozenLine:
    """The accuracy of a rule with all blocks frozen; gains from depth are above the line."""

    rule: str
    accuracy: float


@dataclass(frozen=True)
class FloorLine:
    """An accuracy that needs no depth: chance or a floor."""

    accuracy: float
    says: str


@dataclass(frozen=True)
class FloorName:
    """The name of a floor at the right end of the chart, at the height of `accuracy`."""

    name: str
    place: float
    accuracy: float


@dataclass(frozen=True)
class CurveName:
    """The name of a rule at the right end of the chart, at the height of `accuracy`."""

    rule: str
    name: str
    place: float
    accuracy: float


@dataclass(frozen=True)
class LadderData:
    """The data of a ladder's chart; accuracies are in per cent."""

    blocks: int
    top: float
    means: tuple[RungPoint, ...]
    seeds: tuple[SeedPoint, ...]
    twins: tuple[RungPoint, ...]
    lost: tuple[LostPoint, ...]
    frozen: tuple[FrozenLine, ...]
    floors: tuple[FloorLine, ...]
    floor_names: tuple[FloorName, ...]
    names: tuple[CurveName, ...]


def curves_of(ladder: Ladder) -> dict[str, list[Rung]]:
    """Return the rungs to draw, by rule.

    Networks with another number of blocks than the ladder's are left out.
    """
    blocks = ladder.config.net.blocks if ladder.config.net else None
    curves = {
        label: [
            rung
            for rung in rungs
            if (rung.accuracies or rung.lost) and (blocks is None or rung.blocks in (None, blocks))
        ]
        for label, rungs in ladder.rules.items()
        if control_in(label) not in OTHER_BLOCKS
    }
    return {label: rungs for label, rungs in curves.items() if rungs}


def has_names(ladder: Ladder) -> bool:
    """Return whether each curve has its rule's name at its end."""
    return len(curves_of(ladder)) <= MOST_NAMES


def ladder_data(ladder: Ladder, least_top: float = 0.0) -> LadderData:
    """Return the data of a ladder's chart; the accuracy axis ends at `least_top` or higher."""
    curves, lines = curves_of(ladder), _lines(ladder)
    most = max((rung.k for rungs in curves.values() for rung in rungs), default=0)
    blocks = ladder.config.net.blocks if ladder.config.net else most
    beside = _places_beside(list(curves))
    each = [(label, rung) for label, rungs in curves.items() for rung in rungs]
    twins = [
        (label, rung) for label, rungs in ladder.twins.items() if label in curves for rung in rungs
    ]
    means = [_mean(label, rung, beside[label]) for label, rung in each if rung.accuracies]
    swapped = [_mean(label, rung, beside[label], TWIN) for label, rung in twins if rung.accuracies]
    seeds = [seed for label, rung in each for seed in _seeds(label, rung, beside[label])]
    reach = _top([*means, *swapped], [*(seed.accuracy for seed in seeds), *lines.values()])
    top = max(least_top, reach)
    floor_names, names = _names_beside(curves, lines, top, blocks + ROOM)
    return LadderData(
        blocks=blocks,
        top=top,
        means=tuple(means),
        seeds=tuple(seeds),
        twins=tuple(swapped),
        lost=tuple(
            LostPoint(label, rung.k + beside[label], 0.0, _lost_words(label, rung))
            for label, rung in each
            if rung.lost
        ),
        frozen=tuple(
            FrozenLine(label, 100 * rungs[0].mean)
            for label, rungs in curves.items()
            if rungs[0].k == 0 and rungs[0].mean is not None and len(rungs) > 1
        ),
        floors=tuple(FloorLine(at, f"{name}: {at:.1f} %") for name, at in lines.items()),
        floor_names=floor_names,
        names=names,
    )


def _places_beside(labels: Sequence[str]) -> dict[str, float]:
    """Return each rule's horizontal distance from k, so that intervals do not cover each other."""
    apart = min(APART, 2 * SPREAD / max(1, len(labels)))
    return {label: apart * (n - (len(labels) - 1) / 2) for n, label in enumerate(labels)}


def _top(means: Sequence[RungPoint], others: Sequence[float]) -> float:
    """Return the top of the axis; intervals that reach above 100 % may be cut there."""
    highest = max([*(point.accuracy for point in means), *others], default=100.0)
    reach = max([highest, *(point.high or 0.0 for point in means)])
    return min(1.08 * reach, max(103.0, 1.02 * highest))


def _mean(label: str, rung: Rung, beside: float, twin: str = "") -> RungPoint:
    low, high = rung.ends or (None, None)
    mean = statistics.fmean(rung.accuracies.values())
    count = len(rung.accuracies)
    interval = "one seed" if count == 1 else f"{count} seeds, too few for an interval"
    if low is not None and high is not None:
        interval = f"95 % [{100 * low:.1f}, {100 * high:.1f}], {count} seeds"
    return RungPoint(
        rule=label,
        place=rung.k + beside,
        accuracy=100 * mean,
        low=None if low is None else 100 * max(low, 0.0),
        high=None if high is None else 100 * high,
        says=f"{plain(label)}, k = {rung.k}{twin}: {100 * mean:.1f} %, {interval}",
        run=next(iter(rung.runs.values()), None) if twin else None,
    )


def _seeds(label: str, rung: Rung, beside: float) -> list[SeedPoint]:
    return [
        SeedPoint(
            label,
            rung.k + beside,
            100 * accuracy,
            rung.runs.get(seed, ""),
            f"{plain(label)}, k = {rung.k}, seed {seed}: {100 * accuracy:.1f} %",
        )
        for seed, accuracy in rung.accuracies.items()
    ]


def _lost_words(label: str, rung: Rung) -> str:
    words = [f"{len(rung.diverged)} diverged"] if rung.diverged else []
    words += [f"{rung.failed} failed"] if rung.failed else []
    return f"{plain(label)}, k = {rung.k}: {', '.join(words)}"


def _lines(ladder: Ladder) -> dict[str, float]:
    """Return the accuracies of floors and chance, by name."""
    lines = dict(ladder.floors.lines) if ladder.floors else {}
    if ladder.chance is not None:
        lines["chance"] = ladder.chance
    return {name: 100 * accuracy for name, accuracy in lines.items()}


def _names_beside(
    curves: Mapping[str, Sequence[Rung]], lines: Mapping[str, float], top: float, place: float
) -> tuple[tuple[FloorName, ...], tuple[CurveName, ...]]:
    """Return the names of floors and of curves, in one column without overlaps."""
    ends = {
        label: 100 * means[-1]
        for label, rungs in curves.items()
        if (means := [rung.mean for rung in rungs if rung.mean is not None])
    }
    shown = ends if len(curves) <= MOST_NAMES else {}
    places = [*((name, at, True) for name, at in lines.items())]
    places += [(label, at, False) for label, at in shown.items()]
    places.sort(key=lambda one: one[1])
    heights = spread_out([at for _, at, _ in places], LINES_APART * top, top)
    floors = [
        FloorName(f"{name} {at:.1f} %", place, height)
        for (name, at, is_floor), height in zip(places, heights, strict=True)
        if is_floor
    ]
    names = [
        CurveName(name, plain(name, LONGEST_NAME), place, height)
        for (name, _, is_floor), height in zip(places, heights, strict=True)
        if not is_floor
    ]
    return tuple(floors), tuple(names)


def spread_out(rising: Sequence[float], apart: float, top: float) -> list[float]:
    """Return heights with at least `apart` between neighbours, and none of them above `top`."""
    heights: list[float] = []
    for height in rising:
        heights.append(max(height, heights[-1] + apart) if heights else height)
    limit = top
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], limit)
        limit = heights[place] - apart
    return heights
