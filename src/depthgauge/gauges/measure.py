"""Let gauges read batches, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from depthgauge.errors import UserError
from depthgauge.gauges.reading import BatchConsumer
from depthgauge.nets.batch import split_batch
from depthgauge.nets.stream_reader import StreamReader

NO_BATCHES = "there are no batches to measure on; give at least one (inputs, labels)"


def peek_first(batches: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """Return the first batch, and an iterator over all batches; no list of batches is kept."""
    iterator = iter(batches)
    for first in iterator:
        return first, chain(iter((first,)), iterator)
    raise UserError(NO_BATCHES)


def measure(net: StreamReader, batches: Iterable[Any], gauges: Sequence[BatchConsumer]) -> None:
    """Let every gauge read every batch; free each batch before the next batch is loaded."""
    seen = 0
    for batch in batches:
        inputs, labels = split_batch(batch)
        view = net.see(inputs, labels)
        for gauge in gauges:
            gauge.see(view)
        seen += 1
    if not seen:
        raise UserError(NO_BATCHES)
