"""DFA whose feedback matrices are mostly zero."""

import torch
from pydantic import Field

from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions


class SparseOptions(RuleOptions):
    """How much of the feedback is kept."""

    density: float = Field(default=0.25, gt=0, le=1, description="share of weights that is not 0")


class SparseDFA(Rule):
    """a_l = e·B_lᵀ; each weight of B_l is normal with probability `density`, else 0."""

    name = "sparse_dfa"
    summary = "direct feedback alignment through sparse random matrices"
    needs = frozenset({"error"})
    Options = SparseOptions

    def feedback(self, net, generator):
        """The matrices, one for each block; without blocks one for the embedding."""
        width, classes = net.width, net.error_width
        shape = (max(net.num_blocks, 1), width, classes)
        kept = torch.rand(shape, generator=generator) < self.options.density
        return {"B": torch.randn(shape, generator=generator) * kept}

    def credit(self, context: Context) -> Credit:
        """The error, projected to every block; the embedding uses the first matrix."""
        projected = [context.error @ matrix.T for matrix in context.feedback["B"]]
        return Credit(blocks=projected[: len(context.states) - 1], embed=projected[0])
