"""Controls, which train a learning rule on a changed network or with a changed recipe.

Each control excludes one explanation of a rule's accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from depthgauge.config import NetConfig


@dataclass(frozen=True)
class Control:
    """A control: its description in one line, and its changes to the network and the recipe."""

    summary: str
    net: Callable[[NetConfig], NetConfig] = lambda net: net
    training: Mapping[str, Any] = field(default_factory=dict)


def wide_block_hidden(net: NetConfig) -> int:
    """Return the inner width m at which one block has as many parameters as all blocks of `net`.

    A block of width d has m·(2d + 1) + 3d parameters: two Linears with biases and a LayerNorm.
    """
    width, inner = net.width, net.hidden or net.width
    per_unit, rest = 2 * width + 1, 3 * width
    return max(1, round((net.blocks * (inner * per_unit + rest) - rest) / per_unit))


def _wide_block(net: NetConfig) -> NetConfig:
    return net.model_copy(update={"blocks": 1, "hidden": wide_block_hidden(net)})


def control_in(label: str) -> str | None:
    """Return the control that a rule's label names; None if it names no control.

    The label names a control as the last entry in its brackets.
    """
    last = label.rstrip("]").replace("[", ",").split(",")[-1]
    return last if label.endswith("]") and last in CONTROLS else None


CONTROLS: dict[str, Control] = {
    "shallow": Control(
        "no blocks: the accuracy of embedding and readout alone",
        lambda net: net.model_copy(update={"blocks": 0}),
    ),
    "wide_block": Control(
        "one block with as many parameters as all blocks: capacity without depth", _wide_block
    ),
    "random_targets": Control(
        "fresh random labels in every batch: training with nothing to learn",
        training={"targets": "random"},
    ),
    "no_norm": Control(
        "no LayerNorm before the readout",
        lambda net: net.model_copy(update={"terminal_norm": False}),
    ),
    "no_skip": Control(
        "no residual connection, second Linear at std 0.5",
        lambda net: net.model_copy(update={"residual_add": False, "w2_std": 0.5}),
    ),
}
