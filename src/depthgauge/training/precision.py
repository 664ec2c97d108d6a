"""The types of tensors for each precision of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.backends.cuda import (
    allow_fp16_bf16_reduction_math_sdp,
    fp16_bf16_reduction_math_sdp_allowed,
)
from torch.nn.attention import SDPBackend, sdpa_kernel

from depthgauge.recipe import Precision

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bf16": torch.float32}
"""The type of the parameters. With bf16, only matrix products are in bfloat16."""


@contextmanager
def products_in(precision: Precision, device: torch.device | str) -> Iterator[None]:
    """Multiply matrices in bfloat16 if the precision is bf16; otherwise change nothing.

    Attention is then computed by explicit products: on CPUs, torch's fused attention is several
    times slower in bfloat16 than in float32.
    """
    if precision != "bf16":
        yield
        return
    kind, allowed = torch.device(device).type, fp16_bf16_reduction_math_sdp_allowed()  # type: ignore[no-untyped-call]
    allow_fp16_bf16_reduction_math_sdp(True)  # or torch multiplies in float32 after all
    try:
        with torch.autocast(kind, torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        allow_fp16_bf16_reduction_math_sdp(allowed)
