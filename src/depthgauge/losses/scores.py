"""Score a network's outputs: accuracy where targets are classes, R² where they are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.losses.labels import IGNORED


class Score(Protocol):
    """A score of samples, made for the targets of one split.

    Attributes:
        name: the word for the score in tables, such as "accuracy".
        chance: the score of the best constant answer.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def chance(self) -> float: ...  # noqa: D102

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        """Return a number for each sample; its mean over the whole split is the split's score."""
        ...


@dataclass(frozen=True)
class Accuracy:
    """The share of labels that the largest output names.

    Attributes:
        labels: the mean number of labels of a sample that count.
        chance: the share of the most frequent class.
    """

    labels: float
    chance: float
    name = "accuracy"

    @classmethod
    def on(cls, targets: Tensor) -> Accuracy:
        """Make the score of a split with these class numbers."""
        counted = targets[targets != IGNORED].long()
        if not len(counted):
            raise UserError("no label of the evaluation samples counts: all are −100; give some")
        return cls(len(counted) / len(targets), float(counted.bincount().max() / len(counted)))

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        """Return how many labels of a sample are right, per mean number of labels.

        With one label for each sample that is 0 or 1, as a flag.
        """
        right = (output.argmax(-1) == target) & (target != IGNORED)
        if target.dim() == 1 and self.labels == 1:
            return right
        return right.reshape(len(target), -1).sum(1, dtype=torch.float64) / self.labels


@dataclass(frozen=True)
class RSquared:
    """R², the share of the targets' variance that the output explains.

    Attributes:
        variance: the mean squared distance of the targets from their mean.
    """

    variance: float
    name = "R²"
    chance = 0.0

    @classmethod
    def on(cls, targets: Tensor) -> RSquared:
        """Make the score of a split with these targets."""
        wide = targets.double()
        variance = float((wide - wide.mean(0)).square().flatten(1).sum(1).mean())
        if not variance > 0:
            raise UserError(
                "all targets of the evaluation samples are the same, so R² is not defined; give "
                "targets that differ"
            )
        return cls(variance)

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        """Return 1 − (squared distance from the target)/variance of each sample."""
        apart = (output.double() - target.double()).square().flatten(1).sum(1)
        return 1 - apart / self.variance


def usual_score(targets: Tensor) -> Score:
    """Return accuracy for class numbers and R² for real targets."""
    return RSquared.on(targets) if targets.is_floating_point() else Accuracy.on(targets)
