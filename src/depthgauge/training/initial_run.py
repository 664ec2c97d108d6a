"""Draw the network and the feedback with which a run begins."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from depthgauge.config import RunConfig
from depthgauge.nets.probed import shape_of
from depthgauge.nets.registry import build_net
from depthgauge.nets.seeded import seeded
from depthgauge.rules.contract import Rule
from depthgauge.rules.feedback import draw_feedback
from depthgauge.tasks.base import Task


def initialise(config: RunConfig, task: Task, rule: Rule) -> tuple[nn.Module, dict[str, Tensor]]:
    """Draw a run's network and then its feedback, with the run's seed.

    Both come from torch's global random state, as in the published initialisation. A user's network
    may also draw from the states of numpy and Python. All states are restored afterwards.
    """
    with seeded(config.seed):
        net = build_net(config.net, task)
        with torch.random.fork_rng(devices=[]):
            shape = shape_of(net, config.net, task)
        return net, draw_feedback(rule, net, shape, torch.default_generator)
