"""The networks there are, by name, and a network as its seed makes it."""

from __future__ import annotations

import torch

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.tasks.base import Task

NETS: dict[str, type[ResidualMLP]] = {"residual_mlp": ResidualMLP}


def find_net(name: str) -> type[ResidualMLP]:
    """The network class called `name`."""
    if name not in NETS:
        raise UserError(f"there is no net called {name!r}; there are: {', '.join(sorted(NETS))}")
    return NETS[name]


def build_net(config: NetConfig, task: Task) -> ResidualMLP:
    """A network for `task`, drawn from torch's global random state."""
    return find_net(config.name)(
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
    """The network that `torch.manual_seed(seed)` gives; the global random state is put back."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build_net(config, task)
