"""What a task is: arrays to learn from, arrays to be judged on, and how pixels become inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from depthgauge.config import TaskConfig
from depthgauge.errors import UserError


@dataclass(frozen=True)
class Split:
    """Samples `x`, (n, features) float32 or uint8 pixels, and their labels `y`, (n,) int64."""

    x: Tensor
    y: Tensor

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Pixels:
    """How stored bytes become inputs: (x/255 − mean)/std for each channel.

    A task that has this is a task of images, stored flat in channel-height-width order; its
    training images are augmented with random crops and flips.
    """

    channels: int
    height: int
    width: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """A classification problem, wholly in memory."""

    name: str
    train: Split
    evaluation: Split
    num_classes: int
    pixels: Pixels | None = None
    evaluated_on: Literal["test", "validation"] = "test"

    @property
    def input_dim(self) -> int:
        """Number of features of one sample."""
        return self.train.x.shape[1]

    @property
    def chance(self) -> float:
        """Accuracy of always naming the most frequent class of the evaluation split."""
        counts = torch.bincount(self.evaluation.y, minlength=self.num_classes)
        return float(counts.max() / counts.sum())

    @property
    def config(self) -> TaskConfig:
        """The task as it stands in a run's configuration, down to its bytes."""
        return TaskConfig(name=self.name, checksum=self.checksum, evaluated_on=self.evaluated_on)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over the bytes of all four arrays: what was learned, exactly."""
        return sha256_of((self.train.x, self.train.y, self.evaluation.x, self.evaluation.y))


def sha256_of(arrays: Iterable[Tensor]) -> str:
    """SHA-256 of the arrays' bytes, one after the other."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.contiguous().numpy().data)
    return digest.hexdigest()


def hold_out_validation(task: Task, size: int) -> Task:
    """The same task, judged on `size` samples taken out of its training set.

    The test set is not part of the returned task at all, so settings can be chosen without
    touching it. Which samples are held out depends on the training set's length alone.
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
