"""Check before training that a network can be trained, and that every rule fits it."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from depthgauge.config import NetConfig
from depthgauge.errors import OptionError
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.probed import probe_of, probed_shape
from depthgauge.rules.choice import RuleChoice
from depthgauge.tasks.base import Task

log = logging.getLogger("depthgauge")


def check_fit(rules: Iterable[RuleChoice], net: NetConfig, task: Task, *, freezes: bool) -> None:
    """Refuse a network that cannot be trained, or a rule that the network does not fit.

    Args:
        rules: the rules.
        net: the network.
        task: what the network shall learn.
        freezes: whether there are runs that train only some of the blocks.

    Raises:
        OptionError: the message says in one sentence what does not fit.
    """
    seen = probe_of(net, task)
    if seen.training is not None:
        raise OptionError(
            "net", f"the net {net.name} cannot be trained on {task.name}: {seen.training}"
        )
    if freezes and seen.ladder is not None:
        raise OptionError("net", f"the net {net.name} has no ladder: {seen.ladder}")
    if seen.resume is not None:
        log.warning("runs of %s do not resume with the same bits: %s", net.name, seen.resume)
    _check_rules(rules, net, probed_shape(net, task))


def check_fit_of_residual_mlp(rules: Iterable[RuleChoice], net: NetConfig, task: Task) -> None:
    """Refuse a rule that a ResidualMLP with the task's targets does not fit."""
    classes = None if task.is_regression else task.num_classes
    states = ((net.width,),) * (net.blocks + 1)
    shape = NetShape(states, (task.num_classes,), classes, residual=net.residual_add)
    _check_rules(rules, net, shape)


def _check_rules(rules: Iterable[RuleChoice], net: NetConfig, shape: NetShape) -> None:
    for choice in rules:
        if net.blocks and (reason := choice.build().why_not(shape)) is not None:
            raise OptionError("rules", reason)
