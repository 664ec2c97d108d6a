"""The shape of a network: what a rule may know of it when the rule draws its feedback."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch import Tensor

from depthgauge.nets.layout import Layout

if TYPE_CHECKING:
    from depthgauge.nets.contract import ResidualNet

Shape = tuple[int, ...]


@dataclass(frozen=True)
class NetShape:
    """The shapes of a network's stream and output, for one sample.

    Attributes:
        state_shapes: the shapes of h_0 … h_L without the axis of the samples.
        outputs: the shape of the output without the axis of the samples: (classes,), or (tokens,
            classes).
        classes: the number of classes; None if the targets are not class numbers.
        layout: the axes of samples and features in the stream.
        residual: whether blocks add a branch to the stream; if not, they replace the stream.
        refusals: for each need that the network cannot offer to a rule, the reason in words.
    """

    state_shapes: tuple[Shape, ...]
    outputs: Shape
    classes: int | None
    layout: Layout = field(default_factory=Layout)
    residual: bool = True
    refusals: Mapping[str, str] = field(default_factory=dict)
    copied: Mapping[str, Tensor] | None = field(default=None, repr=False, compare=False)
    """Copies of the weights by name, for a rule that declares `copies_weights`."""

    @classmethod
    def of(cls, net: ResidualNet) -> NetShape:
        """Return the shape of a network whose samples have no positions, such as ResidualMLP."""
        classes, width = net.out_head.weight.shape
        states = ((width,),) * (net.num_blocks + 1)
        return cls(states, (classes,), classes, residual=net.residual_add)

    @classmethod
    def of_pass(
        cls,
        states: Sequence[Tensor],
        output: Tensor,
        classes: int | None,
        *,
        layout: Layout | None = None,
        residual: bool = True,
        refusals: Mapping[str, str] | None = None,
    ) -> NetShape:
        """Return the shape of the network that computed these states and this output.

        The output has its samples on the first axis.
        """
        layout = layout or Layout()
        shapes = tuple(without(state.shape, layout.sample_axis) for state in states)
        outputs = tuple(output.shape[1:])
        return cls(shapes, outputs, classes, layout, residual, refusals or {})

    @property
    def num_blocks(self) -> int:
        """The number of blocks, L."""
        return len(self.state_shapes) - 1

    @property
    def width(self) -> int:
        """The number of features of the last state, h_L."""
        return self.features(self.num_blocks)

    @property
    def error_width(self) -> int:
        """The number of entries of the error at one position: the last axis of the output."""
        return self.outputs[-1] if self.outputs else 1

    def features(self, state: int) -> int:
        """Return the number of features of h_l at one position."""
        return self.state_shapes[state][self.feature_axis(state)]

    def positions(self, state: int) -> int:
        """Return the number of positions of h_l; 1 if its samples are vectors."""
        return math.prod(self.state_shapes[state]) // self.features(state)

    def feature_axis(self, state: int) -> int:
        """Return the axis of the features in `state_shapes[state]`."""
        dims = len(self.state_shapes[state]) + 1
        axes = list(range(dims))
        feature = axes[self.layout.feature_axis_of(dims)]
        axes.pop(self.layout.sample_axis)
        return axes.index(feature)

    @property
    def is_uniform(self) -> bool:
        """Whether all states have the same shape."""
        return len(set(self.state_shapes)) == 1

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """Copies of the network's weights by name, for a rule that declares `copies_weights`."""
        if self.copied is None:
            raise LookupError(
                "the rule reads the network's weights, which only a rule with `copies_weights = "
                "True` may do; set it, so that audits say that this rule transports weights"
            )
        return self.copied


def without(shape: Sequence[int], axis: int) -> Shape:
    """Return a shape without one of its axes."""
    sizes = list(shape)
    sizes.pop(axis)
    return tuple(sizes)
