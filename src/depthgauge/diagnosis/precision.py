"""The precision in which a network is measured."""

from __future__ import annotations

import torch

from depthgauge.errors import one_line
from depthgauge.nets.stream_reader import StreamReader

HALF = (torch.float16, torch.bfloat16)


def in_float32(native: StreamReader) -> tuple[StreamReader, tuple[str, ...]]:
    """Return the network to measure, and a remark if the given network is in half precision.

    A network in half precision is measured on a float32 copy, because float16 gradients underflow
    at 6e-8.
    """
    if native.dtype not in HALF:
        return native, ()
    name = str(native.dtype).removeprefix("torch.")
    try:
        return native.in_precision(torch.float32), (
            f"The network is in {name}; it was measured on a float32 copy.",
        )
    except Exception as error:
        return native, (
            f"The network was measured in {name}, because a float32 copy of it fails "
            f"({one_line(error)}); small gradients may have underflowed.",
        )
