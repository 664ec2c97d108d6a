"""Show batches to gauges, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from depthgauge.errors import UserError
from depthgauge.gauges.reading import Sees
from depthgauge.nets.batch import split_batch
from depthgauge.nets.opened import OpenedNet


def measure(net: OpenedNet, batches: Iterable[Any], gauges: Sequence[Sees]) -> None:
    """Every gauge sees every batch; no batch is kept after the next one has come."""
    seen = 0
    for batch in batches:
        inputs, labels = split_batch(batch)
        view = net.see(inputs, labels)
        for gauge in gauges:
            gauge.see(view)
        seen += 1
    if not seen:
        raise UserError("there are no batches to measure on; give at least one (inputs, labels)")
