"""Readings of the credit layer by layer: one mean over layers would hide where it is good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from depthgauge.diagnosis.report import Report
from depthgauge.gauges.null import NullReading
from depthgauge.gauges.reading import Reading
from depthgauge.number_format import MISSING, signed
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.results.network import NetworkResult
from depthgauge.results.study import StudyResult

SIDE_BY_SIDE = 8
WORDS = ("specific", "mixed", "generic", "absent")


def alignment_tables(study: StudyResult) -> list[PaperTable]:
    """Γ of each network, its null reading beside each layer's value and, in words, of the blocks.

    Several tables where there are more layers than fit side by side.
    """
    null = "; ".join(f"{word[0]} {word}" for word in WORDS)
    draws = sorted({null.draws for _, null in _readings(study, _null)})
    caption = "Γ: cosine of the credit with each sample's own gradient, mean over samples"
    if draws:
        caption += (
            f". The letter, and the last column for the blocks together, is the reading against "
            f"{' or '.join(map(str, draws))} fresh feedbacks: {null}"
        )
    return _tables(study, "alignment", caption, lambda r: r.alignment, with_null=bool(draws))


def perturbation_tables(study: StudyResult) -> list[PaperTable]:
    """ρ of each network."""
    caption = (
        "ρ: correlation of the change of the loss that the credit foretells with the true one, "
        "for small random changes of the stream"
    )
    return _tables(study, "perturbation", caption, lambda r: r.perturbation)


def _tables(
    study: StudyResult,
    name: str,
    caption: str,
    reading: Callable[[Report], Reading | None],
    with_null: bool = False,
) -> list[PaperTable]:
    read = list(_readings(study, reading))
    depth = max((len(found.per_layer) for _, found in read), default=0)
    tables = []
    for start in range(0, depth, SIDE_BY_SIDE):
        layers = range(start, min(start + SIDE_BY_SIDE, depth))
        rows = [_row(network, found, layers, with_null) for network, found in read]
        names = ["embed" if layer == 0 else f"block {layer - 1}" for layer in layers]
        header = ["rule", "seed", *names, *(["blocks"] if with_null else [])]
        part = f"-{start // SIDE_BY_SIDE + 1}" if depth > SIDE_BY_SIDE else ""
        tables.append(PaperTable(name + part, study.name, f"{caption}.", header, rows))
    return tables


def _row(network: NetworkResult, found: Reading, layers: range, with_null: bool) -> list[str]:
    null = network.report.null if with_null and network.report else None
    cells = [_cell(found.per_layer, null, layer) for layer in layers]
    deep = [null.deep.word if null else MISSING] if with_null else []
    return [network.label, str(network.seed), *cells, *deep]


Found = TypeVar("Found")


def _readings(
    study: StudyResult, reading: Callable[[Report], Found | None]
) -> Iterator[tuple[NetworkResult, Found]]:
    """Each audited network that has this reading."""
    for rule in study.rules.values():
        for network in rule.networks:
            found = reading(network.report) if network.report else None
            if found is not None:
                yield network, found


def _null(report: Report) -> NullReading | None:
    return report.null


def _cell(values: Sequence[float | None], null: NullReading | None, layer: int) -> str:
    value = values[layer] if layer < len(values) else None
    words = [reading.word for reading in null.per_layer] if null else []
    word = words[layer] if layer < len(words) else ""
    return signed(value) + (f" {word[0]}" if value is not None and word in WORDS else "")
