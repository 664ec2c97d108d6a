"""Build the network that is checked: a module, a function, a file's function, or a known name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from depthgauge.errors import UserError, one_line
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.nets.registry import build_net
from depthgauge.nets.user.network import build_network
from depthgauge.tasks.base import Task

Network = nn.Module | Callable[[], nn.Module] | str

WIDTH, DEPTH = 64, 4
"""The size of a network of the package."""


def build_model(net: Network, task: Task | None) -> nn.Module:
    """Return the network.

    Args:
        net: a module, a function that builds it, `file.py:function`, or a network of the package.
        task: the task for which a network of the package is built.
    """
    if isinstance(net, nn.Module):
        return net
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if not isinstance(net, str):
            return _call(net)
        if ":" in net:
            return build_network(net, "NET")
        config = choose_net(net).config(WIDTH, DEPTH)
        if task is None:
            raise UserError(f"the net {net} is built for a task; give --task")
        return build_net(config, task)


def _call(function: Callable[[], nn.Module]) -> nn.Module:
    try:
        built: object = function()
    except Exception as error:
        raise UserError(f"the function cannot make its network: {one_line(error)}") from error
    if not isinstance(built, nn.Module):
        raise UserError(f"the function returns {type(built).__name__}, not a torch.nn.Module")
    return built
