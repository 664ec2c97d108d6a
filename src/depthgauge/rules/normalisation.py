"""Check and normalise the credit that a rule returned."""

from __future__ import annotations

from torch import Tensor

from depthgauge.nets.layout import Layout
from depthgauge.rules.contract import Context, Credit, Normalise, Rule
from depthgauge.rules.positions import per_position_once, sample_axes

VECTORS = Layout()


def normalise(credit: Tensor, how: Normalise, epsilon: float, layout: Layout = VECTORS) -> Tensor:
    """Divide credit by RMS + ε of each sample (over all its axes) or of the batch.

    "none" keeps the credit as it is.
    """
    if how == "none":
        return credit
    over = sample_axes(credit, layout) if how == "sample" else tuple(range(credit.dim()))
    once = per_position_once(credit)
    rms = once.square().mean(over, keepdim=True).sqrt_()
    return (once / rms.add_(epsilon)).expand(credit.shape)


def compute_credit(rule: Rule, context: Context) -> Credit:
    """Return the rule's credit for one network and one batch, normalised as its options say."""
    credit, how, epsilon = rule.credit(context), rule.options.normalise, rule.options.epsilon
    _check(rule, credit, context)
    return Credit(
        blocks=[normalise(a, how, epsilon, context.layout) for a in credit.blocks],
        embed=normalise(credit.embed, how, epsilon, context.layout),
    )


def _check(rule: Rule, credit: Credit, context: Context) -> None:
    """Refuse credit unless each tensor has the shape of the state whose gradient it estimates."""
    shapes = [tuple(tensor.shape) for tensor in (credit.embed, *credit.blocks)]
    wanted = [tuple(state.shape) for state in context.states]
    if shapes != wanted:
        raise ValueError(
            f"the rule {rule.name} returned credit of the shapes {shapes}; return one tensor for "
            f"the embedding and one for each of {len(wanted) - 1} blocks, of the shapes of the "
            f"states: {wanted} (context.project gives a projection the shape of a state)"
        )
