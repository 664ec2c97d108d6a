"""Build the network of a configuration, and find its blocks."""

from __future__ import annotations

import torch
from torch import nn

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.user_sources import build_from_source
from depthgauge.registry import NETS
from depthgauge.tasks.base import Task


def validate_net(candidate: object, reference: str) -> type[ResidualMLP]:
    """Return the class of a network of the package; `reference` is the name the user gave."""
    if candidate is not ResidualMLP:
        raise UserError(
            f"the net {reference} is not a network of the package; write a network of your own as "
            "path/to/file.py:function"
        )
    return ResidualMLP


def build_net(config: NetConfig, task: Task) -> nn.Module:
    """Build a network for `task`; its weights are drawn from torch's global random state."""
    if config.source:
        return build_from_source(config.source)
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


def initial_net(config: NetConfig, task: Task, seed: int) -> nn.Module:
    """Build the network that this seed gives, and restore torch's global random state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build_net(config, task)


def blocks_of(net: nn.Module, config: NetConfig) -> list[nn.Module]:
    """Return the blocks of a network of this configuration; none if it has none."""
    return find_blocks(net, config.block_path) if config.blocks else []
