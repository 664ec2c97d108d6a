"""Make the batches of an epoch for each seed: shuffled, and augmented if they are images."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from depthgauge.losses.labels import IGNORED
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs, targets_of
from depthgauge.training.augmentation import CropAndFlip
from depthgauge.training.random_streams import random_stream


@dataclass(frozen=True)
class Batch:
    """The samples of one step.

    Attributes:
        inputs: for each seed a tensor (samples, …), in the samples' own shape.
        labels: (seeds, samples), (seeds, samples, positions), or real targets (seeds, samples, d).
    """

    inputs: tuple[Tensor, ...]
    labels: Tensor


class Batches:
    """The batches of a cohort.

    Runs of one seed get the same batches, whatever their rule and their number of trained blocks.
    `random_stream("batches", seed, t)` decides the order of samples and the augmentation in epoch
    t. If `targets` is "random", random classes replace the labels, so there is nothing to learn.
    The classes are drawn anew in every epoch t, from `random_stream("targets", seed, t)`. A token
    whose label does not count keeps it. A sample with real targets gets the targets of a randomly
    drawn sample.

    The device holds the data as they are stored: images stay bytes. The random numbers of an epoch
    are copied to the device at the start of the epoch.
    """

    def __init__(
        self,
        task: Task,
        seeds: Sequence[int],
        batch_size: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        *,
        targets: Literal["true", "random"] = "true",
    ) -> None:
        self.targets = targets
        self.task, self.seeds, self.batch_size = task, list(seeds), batch_size
        self.dtype, self.device = dtype, device
        self._x = task.train.x.to(device)
        self._y = targets_of(task.train, dtype).to(device)
        self._augment = CropAndFlip(task.pixels, device) if task.pixels is not None else None

    def __len__(self) -> int:
        return math.ceil(len(self.task.train) / self.batch_size)

    def epoch(self, number: int, first: int = 0) -> Iterator[Batch]:
        """Iterate over the batches of an epoch, from batch number `first` on.

        The last batch of the epoch may have fewer samples.
        """
        samples = len(self.task.train)
        generators = [random_stream("batches", seed, number) for seed in self.seeds]
        orders = self._stack([torch.randperm(samples, generator=g) for g in generators])
        outcomes = None
        if self._augment is not None:
            outcomes = self._stack([self._augment.draw(samples, g) for g in generators])
        labels = self._labels(orders, number)
        for start in range(first * self.batch_size, samples, self.batch_size):
            chosen = orders[:, start : start + self.batch_size]
            drawn = None if outcomes is None else outcomes[:, start : start + self.batch_size]
            inputs = tuple(
                self._inputs(rows, None if drawn is None else drawn[i])
                for i, rows in enumerate(chosen)
            )
            yield Batch(inputs, labels[:, start : start + self.batch_size])

    def _labels(self, orders: Tensor, number: int) -> Tensor:
        """Return the labels of an epoch in the order of its samples, (seeds, samples, …)."""
        true = self._y[orders]
        if self.targets == "true":
            return true
        shape, samples = true.shape[1:], orders.shape[1]
        generators = [random_stream("targets", seed, number) for seed in self.seeds]
        if self.task.is_regression:
            drawn = [torch.randint(samples, (samples,), generator=g) for g in generators]
            return self._y[self._stack(drawn)]
        classes = self.task.num_classes
        random = self._stack([torch.randint(classes, shape, generator=g) for g in generators])
        return random.where(true != IGNORED, IGNORED)

    def _stack(self, drawn: list[Tensor]) -> Tensor:
        """Stack one tensor per seed, and copy the result to the device of the data."""
        return torch.stack(drawn).to(self.device)

    def _inputs(self, rows: Tensor, outcomes: Tensor | None) -> Tensor:
        x = self._x.index_select(0, rows)
        if self._augment is not None and outcomes is not None:
            x = self._augment.apply(x, outcomes)
        return as_inputs(x, self.task, self.dtype, self.device)
