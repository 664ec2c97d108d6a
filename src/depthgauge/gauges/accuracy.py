"""Measure the score on batches: accuracy of class numbers, R² of real targets."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.gauges.reading import Reading, SampleCount
from depthgauge.losses.function_loss import FunctionLoss
from depthgauge.losses.labels import IGNORED
from depthgauge.nets.batch_view import BatchView

NO_SCORE = "n/a: the labels are not class numbers"


def count_correct(logits: Tensor, labels: Tensor) -> tuple[int, int]:
    """Return how many labels the logits answer correctly, and how many labels there are."""
    counted = labels != IGNORED
    correct = (logits.argmax(-1) == labels) & counted
    return int(correct.sum()), int(counted.sum())


class ScoreSum:
    """The score of answers to batches.

    Attributes:
        name: "accuracy", or "R²" if the targets are real numbers.
        labels: the number of labels, or of real targets, that were answered.
    """

    def __init__(self) -> None:
        self.name, self.labels, self._correct, self._left = "accuracy", 0, 0, 0.0
        self._sum: Tensor | float = 0.0
        self._squares = 0.0

    def add(self, batch: BatchView, output: Tensor) -> None:
        """Count these answers to a batch.

        Targets that do not fit the outputs are not counted, and real targets only if the loss is
        one of this package: a function may mean by them something else than numbers to predict.
        """
        target = batch.labels
        if not target.is_floating_point():
            if target.shape == output.shape[:-1]:
                correct, labels = count_correct(output, target)
                self._correct, self.labels = self._correct + correct, self.labels + labels
        elif target.shape == output.shape and not isinstance(batch.net.loss, FunctionLoss):
            self.name, wide = "R²", target.double()
            self.labels += len(target)
            self._left += float((output.double() - wide).square().sum())
            self._sum = self._sum + wide.sum(0)
            self._squares += float(wide.square().sum())

    @property
    def _variance(self) -> float:
        """The sum of squared distances of the targets from their mean."""
        total = torch.as_tensor(self._sum)
        return self._squares - float(total.square().sum()) / self.labels

    @property
    def value(self) -> float | None:
        """The accuracy or R² of all answers; None without any."""
        if not self.labels:
            return None
        if self.name == "accuracy":
            return self._correct / self.labels
        return 1 - self._left / self._variance

    def minus(self, other: ScoreSum) -> float:
        """Return how much higher this score is than that of other answers to the same batches."""
        if self.name == "accuracy":
            return (self._correct - other._correct) / self.labels
        return (other._left - self._left) / self._variance


class AccuracyGauge:
    """Accuracy, or R² of real targets, on the batches that the other gauges see."""

    def __init__(self) -> None:
        self._score, self._count = ScoreSum(), SampleCount()

    @property
    def labels(self) -> int:
        """The number of labels that were seen."""
        return self._score.labels

    @property
    def is_share(self) -> bool:
        """Whether the score is the share of right answers."""
        return self._score.name == "accuracy"

    def see(self, batch: BatchView) -> None:
        """Count the answers to the batch."""
        self._count.add(batch)
        self._score.add(batch, batch.logits)

    def reading(self) -> Reading:
        """Return the score over all labels seen."""
        return Reading(
            name=self._score.name,
            value=self._score.value,
            per_layer=(),
            unit="share of labels" if self.is_share else "share of the targets' variance",
            convention="largest logit" if self.is_share else "1 − squared error/variance",
            measured_on=str(self._count),
            note="" if self.labels else NO_SCORE,
        )
