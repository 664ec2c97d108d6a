"""Readings of the credit layer by layer: one mean over layers would hide where it is good."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from depthgauge.report.paper.numbers import UNKNOWN, signed
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.results.network import NetworkResult
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult

SIDE_BY_SIDE = 8
WORDS = ("specific", "mixed", "generic", "absent")


def alignment_tables(study: StudyResult) -> list[PaperTable]:
    """Γ of each network, its null reading beside each layer's value and, in words, of the blocks.

    Several tables where there are more layers than fit side by side.
    """
    null = "; ".join(f"{word[0]} {word}" for word in WORDS)
    draws = sorted({n["draws"] for _, n in _readings(study.rules.values(), "null")})
    caption = "Γ: cosine of the credit with each sample's own gradient, mean over samples"
    if draws:
        caption += (
            f". The letter, and the last column for the blocks together, is the reading against "
            f"{' or '.join(map(str, draws))} fresh feedbacks: {null}"
        )
    return _tables(study, "alignment", caption, null_of_blocks=bool(draws))


def perturbation_tables(study: StudyResult) -> list[PaperTable]:
    """ρ of each network."""
    caption = (
        "ρ: correlation of the change of the loss that the credit foretells with the true one, "
        "for small random changes of the stream"
    )
    return _tables(study, "perturbation", caption)


def _tables(
    study: StudyResult,
    name: str,
    caption: str,
    null_of_blocks: bool = False,
) -> list[PaperTable]:
    read = [
        (network, reading["per_layer"], _null(network) if null_of_blocks else {})
        for network, reading in _readings(study.rules.values(), name)
    ]
    depth = max((len(values) for _, values, _ in read), default=0)
    tables = []
    for start in range(0, depth, SIDE_BY_SIDE):
        layers = range(start, min(start + SIDE_BY_SIDE, depth))
        rows = [
            [
                network.label,
                str(network.seed),
                *(_cell(values, null, layer) for layer in layers),
                *([_deep(null)] if null_of_blocks else []),
            ]
            for network, values, null in read
        ]
        names = ["embed" if layer == 0 else f"block {layer - 1}" for layer in layers]
        header = ["rule", "seed", *names, *(["blocks"] if null_of_blocks else [])]
        part = f"-{start // SIDE_BY_SIDE + 1}" if depth > SIDE_BY_SIDE else ""
        tables.append(PaperTable(name + part, study.name, f"{caption}.", header, rows))
    return tables


def _readings(
    views: Collection[RuleResult], name: str
) -> Iterator[tuple[NetworkResult, dict[str, Any]]]:
    """Each audited network that has this reading."""
    for view in views:
        for network in view.networks:
            reading = network.report["readings"].get(name) if network.report else None
            if reading is not None:
                yield network, reading


def _null(network: NetworkResult) -> dict[str, Any]:
    found: dict[str, Any] = network.report["readings"].get("null", {}) if network.report else {}
    return found


def _cell(values: Sequence[float | None], null: dict[str, Any], layer: int) -> str:
    value = values[layer] if layer < len(values) else None
    words = [reading["word"] for reading in null.get("per_layer", ())]
    word = words[layer] if layer < len(words) else ""
    return signed(value) + (f" {word[0]}" if value is not None and word in WORDS else "")


def _deep(null: dict[str, Any]) -> str:
    return str(null["deep"]["word"]) if null else UNKNOWN
