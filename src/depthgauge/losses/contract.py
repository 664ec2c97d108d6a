"""The contract of a loss: its value, error and score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from depthgauge.losses.labels import count_labels
from depthgauge.losses.scores import Score, usual_score


class Loss(ABC):
    """A loss that has one number for each sample.

    A sample's loss is the sum over its labels, so that the gradient of a token does not depend on
    the number of tokens. A batch is trained on the sum over its samples, divided by the number of
    labels in the batch (see `mean`).

    `value` must work under `torch.func.vmap` and `torch.func.grad`: it computes, and leaves the
    checking of its arguments to `check`.

    Attributes:
        name: the name of the loss, as in `--loss`.
        summary: one line about it.
        averages: whether a sample's loss is the mean over its labels; otherwise it is the sum.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    averages: bool = False

    @abstractmethod
    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the loss of each sample, (samples,)."""

    def error(self, output: Tensor, target: Tensor) -> Tensor:
        """Return e = ∂value_i/∂output_i, of the shape of the output.

        By default autograd computes it from `value`.
        """

        def total(output: Tensor) -> Tensor:
            return self.value(output, target).sum()

        error: Tensor = torch.func.grad(total)(output.detach())
        return error

    def value_and_error(self, output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return value and error together."""
        return self.value(output, target), self.error(output, target)

    def labels(self, target: Tensor) -> Tensor:
        """Return how many labels each sample has, (samples,); 1 for each real target."""
        return count_labels(target)

    def mean(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the loss that a batch is trained on: its sum, divided by the number of labels."""
        return self.value(output, target).sum() / self.labels(target).sum().clamp(min=1)

    def score(self, targets: Tensor) -> Score:
        """Return the score of a split with these targets: accuracy, or R² for real targets."""
        return usual_score(targets)

    def check(self, shape: Sequence[int], target: Tensor) -> None:  # noqa: B027 – optional
        """Raise a UserError in one sentence if outputs of this shape do not fit the targets."""

    def mark_ignored(self, labels: Tensor) -> Tensor:
        """Return the labels with −100 in place of this loss's own ignored label."""
        return labels


def in_full_precision(output: Tensor) -> Tensor:
    """Return the output in float32 if its precision is lower; losses of 16 bits are too rough."""
    return output.float() if output.dtype in (torch.bfloat16, torch.float16) else output
