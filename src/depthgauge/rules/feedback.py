"""Draw a rule's feedback: the rule sees a network's shape, and weights only if it says so."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Rule


def draw_feedback(
    rule: Rule, net: nn.Module, shape: NetShape, generator: torch.Generator
) -> dict[str, Tensor]:
    """Return the feedback that a rule draws for a network of this shape.

    A rule that declares `copies_weights` also gets copies of the network's parameters.
    """
    if rule.copies_weights:
        copies = {name: weight.detach().clone() for name, weight in net.named_parameters()}
        shape = replace(shape, copied=copies)
    return rule.feedback(shape, generator)
