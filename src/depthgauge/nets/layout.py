"""Which axes of a stream are samples, positions and features."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from depthgauge.errors import UserError

IMAGE_DIMENSIONS = 4


@dataclass(frozen=True)
class Layout:
    """How a stream of any shape becomes (samples, positions, features).

    A stream is (samples, d), (samples, tokens, d) or (samples, channels, height, width); another
    order is said by the axes. Norms are taken over features; what is done over positions, the
    gauges say.

    Attributes:
        sample_axis: where the samples are; 1 for (tokens, samples, d).
        feature_axis: where the features are; by default the last axis, with four axes the second.
        token: read this position alone instead of all of them.
    """

    sample_axis: int = 0
    feature_axis: int | None = None
    token: int | None = None

    def features_of(self, stream: Tensor) -> int:
        """The axis that features have in the stream."""
        if self.feature_axis is not None:
            return self.feature_axis
        return 1 if stream.dim() >= IMAGE_DIMENSIONS else -1

    def arrange(self, stream: Tensor) -> Tensor:
        """The stream as (samples, positions, features); a view where that is possible."""
        features = self.features_of(stream)
        try:
            ordered = stream.movedim((self.sample_axis, features), (0, -1))
        except (IndexError, RuntimeError) as error:
            raise UserError(
                f"a stream of shape {tuple(stream.shape)} has no sample axis {self.sample_axis} "
                f"and feature axis {features}"
            ) from error
        arranged = ordered.flatten(1, -2) if ordered.dim() > 2 else ordered.unsqueeze(1)  # noqa: PLR2004
        if self.token is None:
            return arranged
        if not -arranged.shape[1] <= self.token < arranged.shape[1]:
            raise UserError(
                f"token {self.token} is not in the stream, which has {arranged.shape[1]} positions"
            )
        return arranged[:, self.token].unsqueeze(1)
