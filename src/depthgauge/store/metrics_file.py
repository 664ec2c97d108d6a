"""Read and write `metrics.jsonl`, which has one line for each epoch of a run."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic_core import from_json

from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.store.files import finite, write_text
from depthgauge.store.quarantine import put_aside

NEEDED = {"epoch", "accuracy", "diverged"}
"""The fields without which a line is ignored."""


class MetricsFile:
    """The `metrics.jsonl` of a run; if an epoch has several lines, the last complete one counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, line: EpochMetrics) -> None:
        """Append the line of one epoch; infinities and NaN become null."""
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(finite(line), allow_nan=False) + "\n")

    def lines(self) -> list[EpochMetrics]:
        """Return the lines of all epochs in order."""
        return self._read()[0]

    def epochs_without_gap(self) -> int:
        """Count the epochs from epoch 0 up to the first missing one."""
        count = 0
        for line in self.lines():
            if line["epoch"] != count:
                break
            count += 1
        return count

    def rewind(self, epoch: int | None) -> None:
        """Remove the lines of all epochs after `epoch`; with None, remove all lines.

        If lines are damaged, a copy of the file is put into quarantine first.
        """
        lines, whole = self._read()
        if not whole:
            put_aside(self.path, "has lines that are cut short or damaged", keep=True)
        kept = [line for line in lines if epoch is not None and line["epoch"] <= epoch]
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in kept))

    def _read(self) -> tuple[list[EpochMetrics], bool]:
        """Return the lines of all epochs in order, and whether every line could be read."""
        return read_lines(self.path.read_bytes()) if self.path.exists() else ([], True)


def read_lines(content: bytes) -> tuple[list[EpochMetrics], bool]:
    """Return the lines of all epochs in order, and whether every line could be read."""
    lines = [_line(text) for text in content.splitlines()]
    by_epoch: dict[int, EpochMetrics] = {line["epoch"]: line for line in lines if line is not None}
    return [by_epoch[epoch] for epoch in sorted(by_epoch)], None not in lines


def _line(text: bytes) -> EpochMetrics | None:
    """Return the metrics in a line; None if the line is cut short or lacks a needed field."""
    try:
        line = from_json(text)
    except ValueError:
        return None
    whole = isinstance(line, dict) and line.keys() >= NEEDED and type(line["epoch"]) is int
    return line if whole else None
