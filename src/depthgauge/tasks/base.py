"""A task: samples to train on, samples to evaluate on, and how pixels become inputs."""

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
    """The shape of a task's images, and how their bytes become inputs: (x/255 − mean)/std.

    Mean and std are one number for each channel. A task with `pixels` holds images, stored flat in
    channel-height-width order. Training augments them with random crops and flips.
    """

    channels: int
    height: int
    width: int
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """A classification problem with all its samples in memory."""

    name: str
    train: Split
    evaluation: Split
    num_classes: int
    pixels: Pixels | None = None
    evaluated_on: Literal["test", "validation"] = "test"
    loss: str = "cross_entropy"

    @property
    def input_dim(self) -> int:
        """The number of features of one sample."""
        return self.train.x.shape[1]

    @property
    def chance(self) -> float:
        """The accuracy of always answering the most frequent class of the evaluation split."""
        counts = torch.bincount(self.evaluation.y, minlength=self.num_classes)
        return float(counts.max() / counts.sum())

    @property
    def config(self) -> TaskConfig:
        """The task as a run's configuration holds it, with the checksum of its data."""
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
    """Return the task with `size` of its training samples as evaluation split.

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
