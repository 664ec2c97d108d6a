"""Sign-DFA (Bartunov et al. and Frenkel et al. examine it): only the error's sign is fed back."""

from __future__ import annotations

from torch import Tensor

from depthgauge.rules.contract import Context
from depthgauge.rules.dfa import DFA


class SignDFA(DFA):
    """a_l = sign(e)·B_lᵀ with DFA's matrices: which classes were over- and underrated, not how far.

    With softmax and cross-entropy the sign is −1 for the target and +1 for every other class, so
    the credit points the same way for all samples of a class, however well they are known, until
    an error is too small for the precision and becomes zero.
    """

    name = "sdfa"
    summary = "sign-DFA: the sign of the error through a fixed random matrix to each block"
    needs = frozenset({"error"})

    def source(self, context: Context) -> Tensor:
        """The error's sign."""
        return context.error.sign()
