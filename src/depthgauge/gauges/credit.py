"""Check the credit that gauges examine, and pair it with gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.batch_view import BatchView
from depthgauge.rules.credit_function import CreditFunction

Convention = Literal["depthgauge", "published"]


def checked_credit(function: CreditFunction, batch: BatchView) -> list[Tensor]:
    """Return the credit of a batch; refuse credit with other shapes than the stream's."""
    credit = list(function(batch))
    shapes, wanted = [[tuple(t.shape) for t in tensors] for tensors in (credit, batch.states)]
    if shapes != wanted:
        raise UserError(
            f"the credit has the shapes {shapes}; return {len(wanted)} tensors, one for the "
            f"embedding and one for each block, of the shapes of the states: {wanted}"
        )
    return [tensor.detach() for tensor in credit]


def pair_with_gradients(credit: Sequence[Tensor], convention: Convention) -> list[Tensor]:
    """Return the credit that is to be compared with each of the gradients g_0 … g_L.

    "depthgauge": each credit is compared with the gradient that it estimates.
    "published": block l's credit is compared with g_l, the gradient at the block's *input*. The
    last block's credit is also compared with g_L. The literature on direct feedback compares in
    this way, so this convention exists to compare with published figures.
    """
    return list(credit) if convention == "depthgauge" else [*credit[1:], credit[-1]]
