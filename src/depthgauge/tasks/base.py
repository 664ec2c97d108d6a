"""A task: samples to train on, samples to evaluate on, and what is learned of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from depthgauge.config import TaskConfig
from depthgauge.errors import UserError
from depthgauge.losses.scores import usual_score
from depthgauge.tasks.shape import TaskShape


@dataclass(frozen=True)
class Split:
    """Samples and what is to be learned of them.

    Attributes:
        x: the samples in their own shape: (n, features), images (n, channels, height, width) as
            float32 or uint8 pixels, or tokens (n, positions), int64.
        y: classes (n,), int64; classes of tokens (n, positions), int64, where −100 does not count;
            or real targets (n, d), float32.
    """

    x: Tensor
    y: Tensor

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Pixels:
    """The shape of a task's images, and how their bytes become inputs: (x/255 − mean)/std.

    Mean and std are one number for each channel. A task with `pixels` holds images as bytes.
    Training augments them with random crops and flips.
    """

    channels: int
    height: int
    width: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """A problem with all its samples in memory.

    Attributes:
        name: the task's name.
        train, evaluation: the samples to train on and to evaluate on.
        num_classes: the number of classes; of a regression, the number of targets of a sample.
        pixels: how bytes become inputs, if the samples are images stored as bytes.
        evaluated_on: whether `evaluation` is the test set, or held-out training samples.
        loss: the name of the loss, from the registry of losses.
    """

    name: str
    train: Split
    evaluation: Split
    num_classes: int
    pixels: Pixels | None = None
    evaluated_on: Literal["test", "validation"] = "test"
    loss: str = "cross_entropy"

    def __post_init__(self) -> None:
        if self.pixels is None:
            return
        image = (self.pixels.channels, self.pixels.height, self.pixels.width)
        for split in (self.train, self.evaluation):
            if split.x.shape[1:] != image:
                raise UserError(
                    f"the task {self.name} has pixels of the shape {image}, but samples of the "
                    f"shape {tuple(split.x.shape[1:])}; reshape them to (samples, channels, "
                    "height, width)"
                )

    @property
    def input_dim(self) -> int:
        """The number of features of one sample, over all its axes."""
        return math.prod(self.train.x.shape[1:])

    @cached_property
    def symbols(self) -> int | None:
        """The number of different tokens; None if the samples are not tokens."""
        if self.train.x.dtype != torch.int64:
            return None
        return int(max(self.train.x.max(), self.evaluation.x.max())) + 1

    @property
    def is_regression(self) -> bool:
        """Whether the targets are real numbers, and not classes."""
        return self.train.y.is_floating_point()

    @property
    def shape(self) -> TaskShape:
        """What a network must know of the task to be built."""
        return TaskShape(
            self.name,
            tuple(self.train.x.shape[1:]),
            self.num_classes,
            self.symbols,
            per_position=self.train.y.dim() > 1 and not self.is_regression,
        )

    @property
    def has_flags(self) -> bool:
        """Whether an answer to a sample is right or wrong: one class for each sample."""
        return self.evaluation.y.dim() == 1 and not self.is_regression

    @property
    def chance(self) -> float:
        """The score of the best constant answer on the evaluation split.

        Of a classification, that is the share of the most frequent class. With one class per token,
        tokens without a class do not count. Of a regression it is 0, the R² of the mean.
        """
        return usual_score(self.evaluation.y).chance

    @property
    def config(self) -> TaskConfig:
        """The entry for this task in a run's configuration, with the checksum of the data."""
        return TaskConfig(name=self.name, checksum=self.checksum, evaluated_on=self.evaluated_on)

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of the bytes of all four arrays."""
        return sha256_of((self.train.x, self.train.y, self.evaluation.x, self.evaluation.y))


def sha256_of(arrays: Iterable[Tensor]) -> str:
    """Return the SHA-256 of the arrays' bytes, one array after the other."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.contiguous().numpy().data)
    return digest.hexdigest()


def hold_out_validation(task: Task, size: int) -> Task:
    """Return a copy of the task in which `size` training samples become the evaluation split.

    The returned task does not hold the test set, so settings can be chosen without using it.
    The length of the training set alone decides which samples are held out.
    """
    if not 0 < size < len(task.train):
        raise UserError(
            f"--validation {size} does not fit: the training set of {task.name} has "
            f"{len(task.train)} samples, so choose a number from 1 to {len(task.train) - 1}"
        )
    order = torch.randperm(len(task.train), generator=torch.Generator().manual_seed(0))
    held, kept = order[:size].sort().values, order[size:].sort().values
    return replace(
        task,
        train=Split(task.train.x[kept], task.train.y[kept]),
        evaluation=Split(task.train.x[held], task.train.y[held]),
        evaluated_on="validation",
    )
