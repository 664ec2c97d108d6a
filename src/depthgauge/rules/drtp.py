"""Direct random target projection (Frenkel, Lefebvre & Bol, 2021): blocks get only the target."""

from __future__ import annotations

import math

from torch import Tensor
from torch.nn.functional import one_hot

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context
from depthgauge.rules.dfa import DFA


class DRTP(DFA):
    """DRTP: the credit of block l is a_l = −y*·B_lᵀ, with the one-hot target y*.

    B_l is the random matrix that DFA would use for the block.

    With softmax and cross-entropy the error is negative at the target and positive elsewhere, so
    −y* has the error's sign at the target. A block need not wait for the end of the forward pass.
    """

    name = "drtp"
    summary = "direct random target projection: the target through a fixed random matrix"
    needs = frozenset()

    def why_not(self, net: NetShape) -> str | None:
        """Refuse targets that are not class numbers."""
        if net.classes is None:
            return "the rule drtp projects the target's class, and this task has no classes"
        return super().why_not(net)

    def source(self, context: Context) -> Tensor:
        """Return the tensor that the matrices project: minus the one-hot target.

        A token whose target is −100 does not count; its row is zero.
        """
        target, matrix = context.target, next(iter(context.feedback.values()))
        tokens = math.prod(target.shape[1:]) if self.is_full else 1
        counted = (target >= 0).unsqueeze(-1)
        hot = one_hot(target.clamp_min(0), matrix.shape[-1] // tokens) * counted
        return -hot.to(matrix.dtype)
