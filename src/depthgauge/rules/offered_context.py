"""Build what a rule may see of one network on one batch; training and gauges both build it here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

from depthgauge.losses.contract import Loss
from depthgauge.nets.layout import Layout
from depthgauge.rules.contract import Context, Need, Rule

Offers = Mapping[Need, Callable[[], object]]
"""For each need that a network can offer, a function that makes what the rule gets."""


def offer_context(
    rule: Rule,
    states: Sequence[Tensor],
    *,
    target: Tensor,
    feedback: Mapping[str, Tensor],
    progress: float,
    offers: Offers,
    noise: Tensor | None = None,
    residual: bool = True,
    layout: Layout | None = None,
    loss: Loss | None = None,
    last_gradient: Callable[[], Tensor] | None = None,
) -> Context:
    """Return the context of a rule: the states, the target, and what the rule's `needs` list.

    Only offers that the rule needs are made.

    Args:
        rule: the rule.
        states: h_0 … h_L, detached.
        target: the labels.
        feedback: the rule's feedback for this run.
        progress: the fraction of training that is over.
        offers: what the network can offer.
        noise: the noise for this batch, if the rule has a `noise_shape`.
        residual: whether blocks add a branch to the stream.
        layout: the axes of samples and features; by default those of `Layout()`.
        loss: the loss; by default the cross-entropy of one class number for each sample.
        last_gradient: a function that returns g_L of each sample's own loss, if the network has a
            cheaper way than to differentiate the readout.
    """
    declared = {need: offers[need]() for need in rule.needs}
    return Context(
        states,
        target,
        feedback,
        progress,
        declared,
        noise=noise,
        residual=residual,
        layout=layout,
        loss=loss,
        last_gradient=last_gradient,
    )
