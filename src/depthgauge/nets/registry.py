"""Build the network of a configuration."""

from __future__ import annotations

import torch

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.registry import NETS
from depthgauge.tasks.base import Task


def validate_net(candidate: object, reference: str) -> type[ResidualMLP]:
    """Return the network class if it can be trained; `reference` is the name the user gave."""
    if candidate is not ResidualMLP:
        raise UserError(
            f"the net {reference} cannot be trained: only residual_mlp can be trained; to measure "
            "a network that is already trained, give --net to `depthgauge diagnose` or "
            "`depthgauge audit --checkpoints`"
        )
    return ResidualMLP


def build_net(config: NetConfig, task: Task) -> ResidualMLP:
    """Build a network for `task`; its weights are drawn from torch's global random state."""
    net_class, _ = NETS.find(config.name)
    return net_class(
        task.input_dim,
        config.width,
        task.num_classes,
        config.blocks,
        residual_add=config.residual_add,
        w2_std=config.w2_std,
        terminal_norm=config.terminal_norm,
        hidden=config.hidden,
    )


def initial_net(config: NetConfig, task: Task, seed: int) -> ResidualMLP:
    """Build the network that this seed gives, and restore torch's global random state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build_net(config, task)
