"""Keep a float64 copy of the measured network, for gauges that need more digits than float32."""

from __future__ import annotations

import torch

from depthgauge.errors import one_line
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.stream_reader import StreamReader


class Float64Copy:
    """A float64 copy of a network, made when it is first asked for.

    If the network cannot be copied, `note` says why.
    """

    def __init__(self) -> None:
        self._net: StreamReader | None = None
        self.note = ""

    def of(self, batch: BatchView) -> StreamReader | None:
        """Return the float64 copy of the batch's network; None if it cannot be copied."""
        if self._net is None and not self.note:
            try:
                self._net = batch.net.in_precision(torch.float64)
            except Exception as error:
                self.note = f"n/a: the network cannot be copied in float64 ({one_line(error)})"
        return self._net
