"""Small untrained networks with feedback, in the form in which runs are loaded."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Context, Rule
from depthgauge.rules.dfa import DFA
from depthgauge.rules.fa import FA

FEATURES, WIDTH, CLASSES, BLOCKS = 6, 16, 5, 3


class PlainDFA(DFA):
    """Direct feedback that does not say that it projects, one network at a time."""

    name = "plain_dfa"
    batched = False

    def projected(self, context: Context) -> Tensor | None:
        return None


class UnbatchedFA(FA):
    """Feedback alignment, one network at a time."""

    name = "unbatched_fa"
    batched = False


def make_trained(
    rule: Rule | None, *, seed: int = 3, w2_std: float = 0.3, width: int = WIDTH
) -> TrainedNetwork:
    """Make a network whose branches are strong enough that gradients differ between layers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = ResidualMLP(FEATURES, width, CLASSES, BLOCKS, w2_std=w2_std)
        feedback = rule.feedback(NetShape.of(net), torch.default_generator) if rule else None
    return TrainedNetwork(net, rule, feedback, "made for a test", shape=NetShape.of(net))


def make_batch(samples: int = 40, seed: int = 4) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, FEATURES, generator=generator)
    return x, torch.randint(CLASSES, (samples,), generator=generator)
