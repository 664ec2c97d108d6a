"""Direct random target projection (Frenkel, Lefebvre & Bol, 2021): blocks get only the target."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import one_hot

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

    def source(self, context: Context) -> Tensor:
        """Return the tensor that the matrices project: the one-hot target with a minus sign."""
        matrices = context.feedback["B"]
        return -one_hot(context.target, matrices.shape[-1]).to(matrices.dtype)
