"""Check and normalise the credit that a rule returned."""

from __future__ import annotations

from torch import Tensor

from depthgauge.rules.contract import Context, Credit, Normalise, Rule


def normalise(credit: Tensor, how: Normalise, epsilon: float) -> Tensor:
    """Divide credit by its RMS over each sample or over the batch; "none" returns it unchanged.

    The credit has the shape (…, samples, width). `epsilon` is added to the RMS before dividing.
    """
    if how == "none":
        return credit
    over = (-1,) if how == "sample" else (-2, -1)
    rms = credit.square().mean(over, keepdim=True).sqrt_()
    return credit / rms.add_(epsilon)


def compute_credit(rule: Rule, context: Context) -> Credit:
    """Return the rule's credit for one network and one batch, normalised as its options say."""
    credit, options = rule.credit(context), rule.options
    _check(rule, credit, context)
    return Credit(
        blocks=[normalise(a, options.normalise, options.epsilon) for a in credit.blocks],
        embed=normalise(credit.embed, options.normalise, options.epsilon),
    )


def _check(rule: Rule, credit: Credit, context: Context) -> None:
    """Refuse credit unless the embedding and each block get one tensor of the stream's shape."""
    shapes = [tuple(tensor.shape) for tensor in (credit.embed, *credit.blocks)]
    if shapes != [tuple(state.shape) for state in context.states]:
        raise ValueError(
            f"the rule {rule.name} returned credit of the shapes {shapes}; return one tensor for "
            f"the embedding and one for each of {len(context.states) - 1} blocks, all of the shape "
            f"{tuple(context.states[0].shape)}"
        )
