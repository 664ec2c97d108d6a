"""Follow the metrics of a run while it is trained; each update reads only the new lines."""

from __future__ import annotations

import os

from depthgauge.gauges.epoch_metrics import EpochMetrics
from depthgauge.store.metrics_file import read_lines
from depthgauge.verdict.first_fired import first_fired, readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds


class MetricsTail:
    """A summary of a run's `metrics.jsonl`, brought up to date by `update`.

    A run that is resumed may drop its last epochs and write them again. Then the line that `update`
    read last has moved, or an epoch appears a second time. `update` notices both, and reads the
    whole file again.

    Attributes:
        epoch: the newest epoch; None before the first epoch has ended.
        accuracy: the accuracy after the newest epoch.
        diverged: whether the run diverged.
        fired: the first epoch at which each diagnostic fired, judged by single values instead of
            intervals; None if it has not fired. Diagnostics that training does not measure are
            left out.
    """

    def __init__(self, path: str, thresholds: Thresholds | None = None) -> None:
        self._path, self._thresholds = path, thresholds
        self._forget()

    def _forget(self) -> None:
        self.epoch: int | None = None
        self.accuracy: float | None = None
        self.diverged = False
        self.fired: dict[str, int | None] = {}
        self._stamp: tuple[int, int, int] | None = None
        self._end, self._last_line = 0, b""

    def update(self) -> None:
        """Read the new lines; if the file cannot be read now, the next call tries again."""
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        try:
            if stamp is None or self._was_replaced(stamp) or not self._read_on():
                self._forget()
                self._read_on()
        except OSError:
            return
        self._stamp = stamp

    def _was_replaced(self, stamp: tuple[int, int, int]) -> bool:
        """Return whether the file was replaced, as happens when a resumed run drops epochs."""
        return self._stamp is not None and self._stamp[0] != stamp[0]

    def _read_on(self) -> bool:
        """Read the lines after the last line read; return False if earlier lines have changed."""
        with open(self._path, "rb", buffering=0) as handle:
            handle.seek(self._end - len(self._last_line))
            content = handle.read()
        if not content.startswith(self._last_line):
            return False
        new = content[len(self._last_line) : content.rfind(b"\n") + 1]
        lines, _ = read_lines(new)
        if lines and self.epoch is not None and lines[0]["epoch"] <= self.epoch:
            return False
        self._take(lines)
        self._end += len(new)
        self._last_line = new[new.rfind(b"\n", 0, -1) + 1 :] or self._last_line
        return True

    def _take(self, lines: list[EpochMetrics]) -> None:
        if not lines:
            return
        self.epoch, self.accuracy = lines[-1]["epoch"], lines[-1]["accuracy"]
        self.diverged = self.diverged or any(line["diverged"] for line in lines)
        new = first_fired(readings_from_metrics(lines), self._thresholds)
        self.fired |= {name: at for name, at in new.items() if self.fired.get(name) is None}


def _stamp(path: str) -> tuple[int, int, int] | None:
    """Return inode, size and time of a file, to notice changes; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
