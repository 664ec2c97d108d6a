"""The credit that a network is given: what the rule returned, checked and normalised."""

from __future__ import annotations

from torch import Tensor

from depthgauge.rules.contract import Context, Credit, Normalise, Rule


def normalise(credit: Tensor, how: Normalise, epsilon: float) -> Tensor:
    """Credit (…, samples, d) divided by `RMS + ε`: each sample's own, the batch's, or not."""
    if how == "none":
        return credit
    over = (-1,) if how == "sample" else (-2, -1)
    rms = credit.square().mean(over, keepdim=True).sqrt_()
    return credit / rms.add_(epsilon)


def compute_credit(rule: Rule, context: Context) -> Credit:
    """The rule's credit for one network and one batch, normalised as its options say."""
    credit, options = rule.credit(context), rule.options
    _check(rule, credit, context)
    return Credit(
        blocks=[normalise(a, options.normalise, options.epsilon) for a in credit.blocks],
        embed=normalise(credit.embed, options.normalise, options.epsilon),
    )


def _check(rule: Rule, credit: Credit, context: Context) -> None:
    """One credit tensor for each block and one for the embedding, shaped like the stream."""
    got = [tuple(tensor.shape) for tensor in (credit.embed, *credit.blocks)]
    if got != [tuple(state.shape) for state in context.states]:
        raise ValueError(
            f"the rule {rule.name} returned credit of the shapes {got}; expected are one "
            f"for the embedding and one for each of {len(context.states) - 1} blocks, all "
            f"{tuple(context.states[0].shape)}"
        )
