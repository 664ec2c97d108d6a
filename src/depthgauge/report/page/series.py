"""What was read after every epoch of every run, packed: a large study stays a small page."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from depthgauge.diagnostics.registry import quantities
from depthgauge.results.run import RunResult
from depthgauge.verdict.first_fired import readings_from_metrics

OWN: tuple[Literal["accuracy", "train_loss"], ...] = ("accuracy", "train_loss")
"""What a line of metrics has besides what the diagnostics read."""


def scalars() -> tuple[str, ...]:
    """Return the names of the columns: accuracy, loss, and every quantity that is recorded."""
    return (*OWN, *(name for name, one in quantities().items() if one.from_epoch is not None))


def packed_series(runs: Sequence[RunResult]) -> dict[str, Any]:
    """All numbers one after the other as little-endian 32-bit floats in base64, NaN for none.

    A run begins at its `start` and has `epochs` rows, from epoch 0 on, of the columns named in
    `scalars`, then its `layers` values of ‖h_l‖, then those of ‖g_l‖.
    """
    blocks = [_rows(run) for run in runs]
    starts = [0]
    for block in blocks:
        starts.append(starts[-1] + block.size)
    flat = np.concatenate([block.ravel() for block in blocks]) if blocks else np.zeros(0)
    with np.errstate(over="ignore"):
        packed = flat.astype("<f4").tobytes()
    return {
        "scalars": scalars(),
        "start": starts[:-1],
        "epochs": [len(block) for block in blocks],
        "layers": [run.config.net.blocks + 1 for run in runs],
        "values": base64.b64encode(packed).decode(),
    }


def _rows(run: RunResult) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One row for each epoch up to the last; of those that were lost all is NaN."""
    layers = run.config.net.blocks + 1
    epochs = run.epochs[-1]["epoch"] + 1 if run.epochs else 0
    names = scalars()
    rows = np.full((epochs, len(names) + 2 * layers), math.nan)
    readings = {read.epoch: read.values for read in readings_from_metrics(run.epochs)}
    for line in run.epochs:
        read = readings.get(line["epoch"], {})
        rows[line["epoch"]] = [
            *(_number(line.get(name)) for name in OWN),
            *(_number(read.get(name)) for name in names[len(OWN) :]),
            *_layered(line.get("h_norm"), layers),
            *_layered(line.get("g_norm"), layers),
        ]
    return rows


def _layered(values: Sequence[float | None] | None, layers: int) -> list[float]:
    return [_number(value) for value in values] if values else [math.nan] * layers


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
