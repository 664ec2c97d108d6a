"""The cases of the benchmark: a rule, a network's shape, and data in the shape of CIFAR-10."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from depthgauge.config import NetConfig, Precision, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.tasks.base import Pixels, Split, Task

RULES = ("bp", "fa", "dfa", "state_bridge", "credit_bridge", "ep")
SHAPES = ((256, 4), (512, 2))
SIZES = (1, 3, 15, 45)
BATCH, CLASSES, FEATURES = 128, 10, 3072
TRAINING, TRAINING_TO_EVALUATION = 50_000, 5
FIRST_SEED = 42


@dataclass(frozen=True)
class Case:
    """A rule, the width and the number of blocks of its network, and the recipe."""

    rule: str
    width: int
    blocks: int
    batch: int = BATCH
    samples: int = TRAINING
    epochs: int = 100
    dtype: Precision = "float32"

    def __str__(self) -> str:
        return f"{self.rule}, d = {self.width}, L = {self.blocks}"

    @property
    def weights(self) -> int:
        """Return the number of weights in a network's matrices."""
        return self.width * (FEATURES + CLASSES) + 2 * self.blocks * self.width**2

    @property
    def epoch_steps(self) -> int:
        """Return the number of batches of an epoch."""
        return math.ceil(self.samples / self.batch)

    @property
    def evaluation(self) -> int:
        """Return the number of evaluation samples: a fifth of the training samples, as CIFAR-10."""
        return self.samples // TRAINING_TO_EVALUATION

    def share_of_evaluation(self, steps: int) -> int:
        """Return how many samples of an epoch's evaluation correspond to so many steps."""
        return max(1, round(self.evaluation * steps / self.epoch_steps))

    def ladder(self, runs: int) -> list[tuple[int, int]]:
        """Return k and seed of so many runs: whole ladders of several seeds, k falling."""
        seeds = math.ceil(runs / (self.blocks + 1))
        if runs <= self.blocks:
            return [(self.blocks, FIRST_SEED + number) for number in range(runs)]
        every = [(k, FIRST_SEED + s) for s in range(seeds) for k in range(self.blocks, -1, -1)]
        return sorted(every[:runs], key=lambda run: -run[0])

    def configs(self, runs: int) -> list[RunConfig]:
        """Return the configurations of a cohort with so many runs."""
        return [
            RunConfig(
                task=TaskConfig(name="cifar-shaped", checksum=""),
                net=NetConfig(width=self.width, blocks=self.blocks),
                rule=RuleConfig(name=self.rule, label=self.rule),
                recipe=Recipe(batch_size=self.batch, epochs=self.epochs, dtype=self.dtype),
                k=k,
                seed=seed,
            )
            for k, seed in self.ladder(runs)
        ]

    def task(self) -> Task:
        """Return a task of random bytes in the shape of CIFAR-10."""
        generator = torch.Generator().manual_seed(0)
        count = self.samples + self.evaluation
        image = (count, 3, 32, 32)
        x = torch.randint(0, 256, image, generator=generator, dtype=torch.uint8)
        y = torch.randint(0, CLASSES, (count,), generator=generator)
        pixels = Pixels(3, 32, 32, (0.5,) * 3, (0.25,) * 3)
        train = Split(x[: self.samples], y[: self.samples])
        evaluation = Split(x[self.samples :], y[self.samples :])
        return Task("cifar-shaped", train, evaluation, CLASSES, pixels)
