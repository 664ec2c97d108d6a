"""A cohort that is tried for a few steps, to learn what it costs; nothing of it is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, count

import torch

from depthgauge.config import Engine, RunConfig
from depthgauge.rules.contract import Rule
from depthgauge.studies.runner import EVERY_EPOCH
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches
from depthgauge.training.engines import ENGINES

PROGRESS = 0.5
"""Steps are tried in the middle of a training, when rules have warmed up."""


class Trial:
    """Runs of one rule, trained as `train_cohort` does it, one step at a time.

    A configuration may be there several times: what it costs is that of as many runs. Nothing in it
    leads back to itself, so its memory is free as soon as it is gone.

    `cohort` is what is trained, `epoch_steps` how many steps an epoch has.
    """

    def __init__(
        self,
        configs: Sequence[RunConfig],
        rules: Sequence[Rule],
        task: Task,
        device: str = "cpu",
        engine: Engine = "cohort",
    ) -> None:
        self._task, self.cohort = task, ENGINES[engine](configs, rules, task, device)
        recipe, dtype = configs[0].recipe, self.cohort.dtype
        size, targets = recipe.batch_size, recipe.targets
        batches = Batches(task, self.cohort.seeds, size, dtype, device, targets=targets)
        self.epoch_steps = len(batches)
        self._feed = chain.from_iterable(map(batches.epoch, count()))
        self.cohort.start_epoch(0)

    @cached_property
    def _split(self) -> Split:
        return evaluation_inputs(self._task, self.cohort.dtype, self.cohort.device)

    def step(self) -> float:
        """Seconds that one step takes, its data included."""
        began = self._now()
        self.cohort.step(next(self._feed), PROGRESS)
        return self._now() - began

    def read(self, samples: int | None = None) -> float:
        """Seconds that the readings after an epoch take, on so many samples or on all."""
        split = Split(self._split.x[:samples], self._split.y[:samples])
        began = self._now()
        for observer in EVERY_EPOCH:
            observer(self.cohort.net, split)
        return self._now() - began

    def _now(self) -> float:
        if str(self.cohort.device).startswith("cuda"):
            torch.cuda.synchronize(self.cohort.device)
        return time.perf_counter()
