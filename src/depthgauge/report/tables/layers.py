"""Tables of alignment (Γ) and perturbation correlation (ρ) of each network, layer by layer.

A mean over layers would hide which layers are good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from depthgauge.diagnosis.report import Report
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.number_format import MISSING, signed
from depthgauge.report.tables.table import Cell, Table, make_table, numbers, words
from depthgauge.results.network import NetworkResult
from depthgauge.results.study import StudyResult

SIDE_BY_SIDE = 8
"""Most layers that a table on paper has side by side."""

WORDS = ("specific", "mixed", "generic", "absent")
"""The words of the null calibration; a cell has the first letter."""


def alignment_table(study: StudyResult) -> Table:
    """Return the alignment Γ of each network at each layer.

    If Γ of a network was compared with fresh feedback, the cells also have the words of this null
    calibration.
    """
    null = "; ".join(f"{word[0]} {word}" for word in WORDS)
    draws = sorted({null.draws for _, null in _readings(study, lambda report: report.null)})
    caption = "Γ: cosine of the credit with each sample's own gradient, mean over samples"
    if draws:
        caption += (
            f". Letters, and the last column for all blocks, compare Γ with "
            f"{' or '.join(map(str, draws))} fresh feedbacks: {null}"
        )
    readings = list(_readings(study, lambda report: report.alignment))
    return _table("alignment", caption, readings, with_null=bool(draws))


def perturbation_table(study: StudyResult) -> Table:
    """Return the perturbation correlation ρ of each network at each layer."""
    caption = (
        "ρ: correlation of the change of the loss that the credit predicts with the true change, "
        "for small random changes of the stream"
    )
    readings = list(_readings(study, lambda report: report.perturbation))
    return _table("perturbation", caption, readings, with_null=False)


def in_parts(table: Table) -> list[Table]:
    """Split a table into tables of a few layers each.

    If the last column of the table has words, each part has this column too.
    """
    _, _, *titles = table.titles
    last = [] if not titles or table.columns[-1].is_number else [titles.pop()]
    if len(titles) <= SIDE_BY_SIDE:
        return [table] if table.rows else []
    starts = range(0, len(titles), SIDE_BY_SIDE)
    return [
        table.only("rule", "seed", *titles[start : start + SIDE_BY_SIDE], *last).called(
            f"{table.name}-{number}"
        )
        for number, start in enumerate(starts, start=1)
    ]


def _table(
    name: str, caption: str, readings: Sequence[tuple[NetworkResult, Reading]], *, with_null: bool
) -> Table:
    layers = range(max((len(reading.per_layer) for _, reading in readings), default=0))
    titles = ["embed" if layer == 0 else f"block {layer - 1}" for layer in layers]
    columns = [
        *words("rule"),
        *numbers("seed", *titles),
        *(words("blocks") if with_null else []),
    ]
    rows = [_row(network, reading, layers, with_null) for network, reading in readings]
    return make_table(name, f"{caption}.", columns, rows)


def _row(
    network: NetworkResult, reading: Reading, layers: range, with_null: bool
) -> list[Cell | str]:
    null = network.report.null if with_null and network.report else None
    texts = [_cell(reading.per_layer, null, layer) for layer in layers]
    blocks = [null.deep.word if null else MISSING] if with_null else []
    return [
        network.label,
        str(network.seed),
        *(Cell(text, network.run if text != MISSING else None) for text in [*texts, *blocks]),
    ]


Found = TypeVar("Found")


def _readings(
    study: StudyResult, reading: Callable[[Report], Found | None]
) -> Iterator[tuple[NetworkResult, Found]]:
    """Yield each audited network that has the reading, with the reading."""
    for rule in study.rules.values():
        for network in rule.networks:
            found = reading(network.report) if network.report else None
            if found is not None:
                yield network, found


def _cell(values: Sequence[float | None], null: NullReading | None, layer: int) -> str:
    value = values[layer] if layer < len(values) else None
    readings = [reading.word for reading in null.per_layer] if null else []
    word = readings[layer] if layer < len(readings) else ""
    return signed(value) + (f" {word[0]}" if value is not None and word in WORDS else "")
