"""Check before training that a network can be trained, and that every rule fits it."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from depthgauge.config import NetConfig
from depthgauge.errors import OptionError
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
    shape = probed_shape(net, task)
    for choice in rules:
        if net.blocks and (reason := choice.build().why_not(shape)) is not None:
            raise OptionError("rules", reason)
