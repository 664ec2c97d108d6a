"""Build the network of a configuration, and find its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.architectures.contract import Network
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.seeded import seeded
from depthgauge.nets.user.sources import build_from_source
from depthgauge.registry import NETS
from depthgauge.tasks.base import Task

if TYPE_CHECKING:
    from depthgauge.nets.architectures.choice import NetClass


def validate_net(candidate: object, reference: str) -> NetClass:
    """Return the class of a network if it can be built for a task.

    Args:
        candidate: the class.
        reference: the name that the user gave, for messages.
    """
    if not (isinstance(candidate, type) and issubclass(candidate, Network | ResidualMLP)):
        raise UserError(
            f"the net {reference} is not a network of the package; write a network of your own as "
            "path/to/file.py:function"
        )
    return candidate


def build_net(config: NetConfig, task: Task) -> nn.Module:
    """Build a network for `task`; its weights are drawn from the global random states."""
    if config.source:
        return build_from_source(config.source)
    net_class = NETS.find(config.name)[0]
    if issubclass(net_class, Network):
        options = net_class.Options.model_validate(config.options)
        return net_class.build(task.shape, config.width, config.blocks, options)
    _refuse_tokens(config, task)
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


def check_net(config: NetConfig, task: Task) -> None:
    """Refuse a network of the package that does not fit a task; this allocates no weights."""
    if issubclass(NETS.find(config.name)[0], ResidualMLP):
        _refuse_tokens(config, task)
        return
    with torch.device("meta"):
        build_net(config, task)


def _refuse_tokens(config: NetConfig, task: Task) -> None:
    """Refuse a task of tokens for `ResidualMLP`."""
    if task.symbols is not None:
        raise UserError(
            f"the net {config.name} takes numbers, and {task.shape}; use --net gpt, or a network "
            "of your own"
        )


def initial_net(config: NetConfig, task: Task, seed: int) -> nn.Module:
    """Build the network that this seed gives, and restore the global random states."""
    with seeded(seed):
        return build_net(config, task)


def boundary_blocks(net: nn.Module, config: NetConfig) -> list[nn.Module]:
    """Return the modules at whose boundaries a network of this configuration is cut: its blocks.

    A network of the package without blocks is cut at its readout.
    """
    if config.blocks:
        return find_blocks(net, config.block_path)
    return [net.get_submodule("out_ln" if isinstance(net, ResidualMLP) else "readout")]
