"""The credit that is examined: one tensor for each boundary of the stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.batch_view import BatchView

CreditFunction = Callable[[BatchView], Sequence[Tensor]]
"""From a batch to L + 1 tensors; number l, shaped like the stream, estimates g_l.

Number 0 is applied to the embedding, number l + 1 to block l, as an estimate at its output.
"""

Convention = Literal["depthgauge", "published"]


def credit_of(function: CreditFunction, batch: BatchView) -> list[Tensor]:
    """The credit, checked."""
    credit = list(function(batch))
    shapes = [tuple(tensor.shape) for tensor in credit]
    if shapes != [tuple(state.shape) for state in batch.states]:
        raise UserError(
            f"the credit has the shapes {shapes}; needed are {len(batch.states)} tensors, one for "
            f"the embedding and one for each block, all {tuple(batch.states[0].shape)}"
        )
    return [tensor.detach() for tensor in credit]


def paired(credit: Sequence[Tensor], convention: Convention) -> list[Tensor]:
    """What g_0 … g_L are compared with.

    Ours: each credit with the gradient it estimates. As published, for direct feedback: block l's
    credit with g_l at its *input*, and the last block's with g_L too; it is kept so that published
    figures can be compared like with like.
    """
    return list(credit) if convention == "depthgauge" else [*credit[1:], credit[-1]]
