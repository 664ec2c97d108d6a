"""Say which axes of a stream are samples, positions and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from depthgauge.errors import UserError

IMAGE_DIMENSIONS = 4


@dataclass(frozen=True)
class Layout:
    """The axes of a stream; they say how to arrange it as (samples, positions, features).

    By default a stream is (samples, d), (samples, tokens, d) or (samples, channels, height,
    width). Gauges take norms over features; each gauge says how it combines positions.

    Attributes:
        sample_axis: the axis of the samples; 1 for (tokens, samples, d).
        feature_axis: the axis of the features; by default the second axis if there are four or
            more, else the last axis.
        token: the only position to read; by default all positions are read.
    """

    sample_axis: int = 0
    feature_axis: int | None = None
    token: int | None = None

    def features_of(self, stream: Tensor) -> int:
        """Return the axis of the features in the stream."""
        return self.feature_axis_of(stream.dim())

    def feature_axis_of(self, dimensions: int) -> int:
        """Return the axis of the features in a stream with this number of axes."""
        if self.feature_axis is not None:
            return self.feature_axis
        return 1 if dimensions >= IMAGE_DIMENSIONS else -1

    def ordered(self, stream: Tensor) -> Tensor:
        """Return the stream with its samples first and its features last, as a view."""
        features = self.features_of(stream)
        try:
            return stream.movedim((self.sample_axis, features), (0, -1))
        except (IndexError, RuntimeError) as error:
            raise UserError(
                f"a stream of shape {tuple(stream.shape)} cannot have sample axis "
                f"{self.sample_axis} and feature axis {features}; give Layout the right axes"
            ) from error

    def disordered(self, ordered: Tensor) -> Tensor:
        """Return a stream in its own shape, given one with samples first and features last."""
        return ordered.movedim((0, -1), (self.sample_axis, self.features_of(ordered)))

    def arrange(self, stream: Tensor) -> Tensor:
        """Return the stream as (samples, positions, features), as a view if possible."""
        ordered = self.ordered(stream)
        arranged = ordered.flatten(1, -2) if ordered.dim() > 2 else ordered.unsqueeze(1)  # noqa: PLR2004
        if self.token is None:
            return arranged
        if not -arranged.shape[1] <= self.token < arranged.shape[1]:
            raise UserError(
                f"token {self.token} does not exist: the stream has {arranged.shape[1]} positions, "
                "counted from 0"
            )
        return arranged[:, self.token].unsqueeze(1)


def layout_of(shapes: Sequence[Sequence[int]], samples: int) -> Layout:
    """Return the layout of a stream whose states have these shapes: samples first or second."""
    second = all(len(shape) > 1 and shape[1] == samples for shape in shapes)
    first = all(shape[0] == samples for shape in shapes)
    return Layout(sample_axis=1) if second and not first else Layout()
