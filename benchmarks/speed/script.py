"""The contender *script*: a typical script with a DataLoader and an optimizer for each block."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from depthgauge.tasks.base import Split, Task

from .cases import Case
from .one_run import OneRun

PADDING, SIDE = 4, 32


class Pictures(Dataset[tuple[Tensor, int]]):
    """A dataset that gives one normalised image at a time, with or without augmentation."""

    def __init__(self, task: Task, split: Split, *, augment: bool) -> None:
        self.pictures = split.x.reshape(-1, 3, SIDE, SIDE).permute(0, 2, 3, 1).numpy()
        self.labels, self.augment = split.y.tolist(), augment
        assert task.pixels is not None
        self.mean = torch.tensor(task.pixels.mean).view(3, 1, 1)
        self.std = torch.tensor(task.pixels.std).view(3, 1, 1)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        picture = Image.fromarray(self.pictures[index])
        if self.augment:
            left, top = random.randint(0, 2 * PADDING), random.randint(0, 2 * PADDING)
            padded = ImageOps.expand(picture, PADDING)
            picture = padded.crop((left, top, left + SIDE, top + SIDE))
            if random.random() < 0.5:
                picture = ImageOps.mirror(picture)
        tensor = torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous()
        normalised = (tensor.float() / 255 - self.mean) / self.std
        return normalised.flatten(), self.labels[index]


class Script:
    """Trains the runs of a ladder, one after the other."""

    def __init__(self, case: Case, runs: int) -> None:
        task, self.case = case.task(), case
        self.runs = [OneRun(task, case, k, fused=False) for k, _ in case.ladder(runs)]
        self.training = self._forever(Pictures(task, task.train, augment=True))
        self.evaluation = self._forever(Pictures(task, task.evaluation, augment=False))
        self.owed = 0

    def _forever(self, pictures: Pictures) -> Iterator[tuple[Tensor, Tensor]]:
        workers = os.cpu_count() or 1
        loader = DataLoader(
            pictures,
            self.case.batch,
            shuffle=pictures.augment,
            num_workers=workers,
            multiprocessing_context="fork",
        )
        while True:
            yield from loader

    def train(self, steps: int) -> int:
        """Train each run for some steps, with its share of evaluation; return the run-steps."""
        for run in self.runs:
            for _ in range(steps):
                run.step(*next(self.training))
            self.owed += self.case.share_of_evaluation(steps)
            while self.owed >= self.case.batch:
                run.correct(*next(self.evaluation))
                self.owed -= self.case.batch
        return steps * len(self.runs)
