"""A study as data frames: runs, epochs, ladder, layers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import pandas as pd

from depthgauge.errors import UserError
from depthgauge.results.network import NetworkResult
from depthgauge.results.run import RunResult
from depthgauge.results.study import StudyResult
from depthgauge.store.metrics_file import Line

FrameName = Literal["runs", "epochs", "ladder", "layers"]

Row = dict[str, Any]

WHOLE = ("diverged_epoch", "epoch", "n")
"""Columns of whole numbers, some of which may be missing."""


def frame_of(study: StudyResult, name: FrameName = "runs") -> pd.DataFrame:
    """Return one of a study's tables.

    `runs` has a row for each run, `epochs` one for each run and epoch (a run without metrics has
    one), `ladder` one for each rule, k and seed, `layers` one for each network and layer.
    """
    if name not in FRAMES:
        raise UserError(f"there is no table {name!r}; there are: {', '.join(get_args(FrameName))}")
    frame = pd.DataFrame.from_records(list(FRAMES[name](study)))
    for column in set(WHOLE) & set(frame.columns):
        frame[column] = frame[column].astype("Int64")
    if "diverged" in frame.columns:
        frame["diverged"] = frame["diverged"].astype("boolean")
    return frame


def _configured(run: RunResult) -> Row:
    """What defines a run, flat."""
    config = run.config
    task, net, rule, recipe = config.task, config.net, config.rule, config.recipe
    return {
        "run": run.identity,
        "label": run.label,
        "k": config.k,
        "seed": config.seed,
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


def _runs(study: StudyResult) -> Iterator[Row]:
    for run in study.runs:
        provenance = run.provenance
        yield _configured(run) | {
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
        shared = _configured(run)
        for line in run.epochs or ({},):
            yield shared | _measured(line, layers)


def _measured(line: Line, layers: int) -> Row:
    names = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")
    row = {name: line.get(name) for name in names}
    for name in ("h_norm", "g_norm"):
        values = line.get(name) or []
        known = [*values, *[None] * (layers - len(values))]
        row |= {f"{name}_{layer}": value for layer, value in enumerate(known)}
    return row


def _ladder(study: StudyResult) -> Iterator[Row]:
    for label, rule in study.rules.items():
        for rung in rule.ladder:
            for seed, accuracy in rung.accuracies.items():
                yield {
                    "label": label,
                    "k": rung.k,
                    "seed": seed,
                    "accuracy": accuracy,
                    "run": rung.runs[seed],
                    "blocks": rung.blocks,
                }


def _layers(study: StudyResult) -> Iterator[Row]:
    last = {run.identity: run.epochs[-1] for run in study.runs if run.is_full and run.epochs}
    for rule in study.rules.values():
        for network in rule.networks:
            yield from _of_network(network, last.get(network.run or "", {}))


def _of_network(network: NetworkResult, last: Line) -> Iterator[Row]:
    """Layer 0 is the embedding; layer l is what block l − 1 gives."""
    report = network.report
    norms = report.residual_norms if report else last.get("h_norm") or []
    gradients = report.bp_grad_norms if report else last.get("g_norm") or []
    credit = {
        "alignment": report.alignment if report else None,
        "perturbation": report.perturbation if report else None,
        "nudging": report.nudging if report else None,
    }
    null = report.null.per_layer if report and report.null else ()
    lesion = (None, *report.lesion.per_layer) if report else ()
    for layer in range(len(norms)):
        yield {
            "label": network.label,
            "seed": network.seed,
            "run": network.run,
            "layer": layer,
            "h_norm": norms[layer],
            "g_norm": gradients[layer] if layer < len(gradients) else None,
            **{
                name: reading.per_layer[layer]
                if reading is not None and layer < len(reading.per_layer)
                else None
                for name, reading in credit.items()
            },
            "null": null[layer].word if layer < len(null) else None,
            "lesion": lesion[layer] if layer < len(lesion) else None,
        }


FRAMES: dict[str, Callable[[StudyResult], Iterator[Row]]] = {
    "runs": _runs,
    "epochs": _epochs,
    "ladder": _ladder,
    "layers": _layers,
}
