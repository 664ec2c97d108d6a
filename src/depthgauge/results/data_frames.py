"""A study as data frames: runs, epochs, ladder and layers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import pandas as pd

from depthgauge.errors import UserError
from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.results.network import NetworkResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult

FrameName = Literal["runs", "epochs", "ladder", "layers"]

Row = dict[str, object]
"""A row of a data frame: values by column."""


class LadderRow(NamedTuple):
    """The accuracy of one rule with one number of trained blocks, `k`, and one seed."""

    label: str
    k: int
    seed: int
    accuracy: float
    run: str
    blocks: int | None


class LayerRow(NamedTuple):
    """The readings at one layer of a network.

    Layer 0 is the embedding, layer 1 is the stream after block 0, and so on.
    """

    label: str
    seed: int
    run: str | None
    layer: int
    h_norm: float | None
    g_norm: float | None
    alignment: float | None
    perturbation: float | None
    nudging: float | None
    null: str | None
    lesion: float | None
    rewind: float | None


NORMS: tuple[Literal["h_norm", "g_norm"], ...] = ("h_norm", "g_norm")
"""Metrics with one value for each layer."""

WHOLE = ("diverged_epoch", "epoch", "n")
"""Columns of whole numbers in which values may be missing."""


def frame_of(study: StudyResult, name: FrameName = "runs") -> pd.DataFrame:
    """Return the table of this name as a data frame.

    "runs" has a row for each run. "epochs" has a row for each run and epoch, and one row for a run
    without metrics. "ladder" has a row for each rule, k and seed. "layers" has a row for each
    network and layer.
    """
    if name not in FRAMES:
        raise UserError(f"there is no table {name!r}; use one of {', '.join(get_args(FrameName))}")
    rows, columns = FRAMES[name]
    frame = pd.DataFrame(list(rows(study)), columns=columns)
    for column in set(WHOLE) & set(frame.columns):
        frame[column] = frame[column].astype("Int64")
    if "diverged" in frame.columns:
        frame["diverged"] = frame["diverged"].astype("boolean")
    return frame


def _config_columns(run: RunResult) -> Row:
    """Return the configuration and the state of a run as columns."""
    config = run.config
    task, net, rule, recipe = config.task, config.net, config.rule, config.recipe
    return {
        "run": run.identity,
        "label": run.label,
        "k": config.k,
        "seed": config.seed,
        "swapped": _write_blocks(config.intervention.swapped),
        "frozen": _write_blocks(config.intervention.frozen),
        "task": task.name,
        "evaluated_on": task.evaluated_on,
        "rule": rule.name,
        "options": json.dumps(rule.options, sort_keys=True),
        "source": rule.source or None,
        "net": net.name,
        "width": net.width,
        "blocks": net.blocks,
        "epochs": recipe.epochs,
        "batch_size": recipe.batch_size,
        "dtype": recipe.dtype,
        "learning_rate": recipe.learning_rate,
        "weight_decay": recipe.weight_decay,
        "penalty": recipe.penalty,
        "targets": recipe.targets,
        "state": run.state,
    }


def _write_blocks(blocks: Sequence[int]) -> str | None:
    """Write the indices of blocks as one text; None without blocks."""
    return " ".join(map(str, blocks)) or None


def _runs(study: StudyResult) -> Iterator[Row]:
    for run in study.runs:
        provenance = run.provenance
        yield _config_columns(run) | {
            "accuracy": run.accuracy,
            "diverged_epoch": run.diverged_epoch,
            "reason": run.reason,
            "commit": provenance.get("commit"),
            "version": provenance.get("version"),
            "wall_seconds": provenance.get("wall_seconds"),
            "folder": str(run.folder),
        }


def _epochs(study: StudyResult) -> Iterator[Row]:
    layers = 1 + max((run.config.net.blocks for run in study.runs), default=0)
    for run in study.runs:
        shared = _config_columns(run)
        for line in run.epochs or (None,):
            yield shared | _epoch_columns(line, layers)


def _epoch_columns(line: EpochMetrics | None, layers: int) -> Row:
    """Return the metrics of one epoch as columns, with a column for each norm at each layer."""
    names = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")
    row: Row = {name: line.get(name) if line else None for name in names}
    for name in NORMS:
        values = (line.get(name) if line else None) or []
        known = [*values, *[None] * (layers - len(values))]
        row |= {f"{name}_{layer}": value for layer, value in enumerate(known)}
    return row


def _ladder(study: StudyResult) -> Iterator[LadderRow]:
    for label, rule in study.rules.items():
        for rung in rule.ladder:
            for seed, accuracy in rung.accuracies.items():
                yield LadderRow(label, rung.k, seed, accuracy, rung.runs[seed], rung.blocks)


def _layers(study: StudyResult) -> Iterator[LayerRow]:
    last = {run.identity: run.epochs[-1] for run in study.runs if run.is_full and run.epochs}
    for rule in study.rules.values():
        for network in rule.networks:
            yield from _layers_of(network, last.get(network.run or ""))


def _layers_of(network: NetworkResult, last: EpochMetrics | None) -> Iterator[LayerRow]:
    """Yield a row for each layer of a network.

    The readings come from the audit's report. A network without a report has only the norms that
    training recorded after the `last` epoch.
    """
    report = network.report
    norms: Sequence[float | None] = ()
    gradients: Sequence[float | None] = ()
    if report is not None:
        norms, gradients = report.residual_norms, report.bp_grad_norms
    elif last is not None:
        norms, gradients = last.get("h_norm") or (), last.get("g_norm") or ()
    credit = [report.alignment, report.perturbation, report.nudging] if report else [None] * 3
    alignment, perturbation, nudging = (reading.per_layer if reading else () for reading in credit)
    null = [layer.word for layer in report.null.per_layer] if report and report.null else []
    lesion = (None, *report.lesion.per_layer) if report else ()
    rewind = (None, *report.rewind.per_layer) if report and report.rewind else ()
    columns = (norms, gradients, alignment, perturbation, nudging, null, lesion, rewind)
    for layer in range(max(map(len, columns))):
        yield LayerRow(
            label=network.label,
            seed=network.seed,
            run=network.run,
            layer=layer,
            h_norm=_at(layer, norms),
            g_norm=_at(layer, gradients),
            alignment=_at(layer, alignment),
            perturbation=_at(layer, perturbation),
            nudging=_at(layer, nudging),
            null=_at(layer, null),
            lesion=_at(layer, lesion),
            rewind=_at(layer, rewind),
        )


Value = TypeVar("Value")


def _at(layer: int, values: Sequence[Value]) -> Value | None:
    return values[layer] if layer < len(values) else None


FRAMES: dict[str, tuple[Callable[[StudyResult], Iterator[Any]], Sequence[str] | None]] = {
    "runs": (_runs, None),
    "epochs": (_epochs, None),
    "ladder": (_ladder, LadderRow._fields),
    "layers": (_layers, LayerRow._fields),
}
"""For each table: the function that yields its rows, and its columns if these are fixed."""
