"""Sign-DFA (studied by Bartunov et al. and Frenkel et al.): DFA with only the error's sign."""

from __future__ import annotations

from torch import Tensor

from depthgauge.rules.contract import Context
from depthgauge.rules.dfa import DFA


class SignDFA(DFA):
    """Sign-DFA: the credit of block l is a_l = sign(e)·B_lᵀ, with the error e and DFA's matrix B_l.

    With softmax and cross-entropy the sign is −1 for the target and +1 for every other class. So
    all samples of a class get the same credit, whatever the size of their errors, except where an
    error rounds to zero.
    """

    name = "sdfa"
    summary = "sign-DFA: the sign of the error through a fixed random matrix to each block"
    needs = frozenset({"error"})

    def source(self, context: Context) -> Tensor:
        """Return the tensor that the matrices project: the sign of the error."""
        return context.error.sign()
