"""A cohort that is tried for a few steps, to learn what it costs; nothing of it is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import count

import torch

from depthgauge.config import Engine, RunConfig
from depthgauge.rules.contract import Rule
from depthgauge.studies.runner import EVERY_EPOCH
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batch, Batches
from depthgauge.training.engines import ENGINES


class Trial:
    """Runs of one rule, trained as `train_cohort` does it, one step at a time.

    A configuration may be there several times: what it costs is that of as many runs.
    """

    def __init__(
        self,
        configs: Sequence[RunConfig],
        rules: Sequence[Rule],
        task: Task,
        device: str = "cpu",
        engine: Engine = "cohort",
    ) -> None:
        self._cohort = ENGINES[engine](configs, rules, task, device)
        recipe = configs[0].recipe
        self._batches = Batches(
            task, self._cohort.seeds, recipe.batch_size, self._cohort.dtype, device
        )
        self._feed = self._endless()
        self._cohort.start_epoch(0)
        self._split = evaluation_inputs(task, self._cohort.dtype, device)

    def _endless(self) -> Iterator[Batch]:
        for number in count():
            yield from self._batches.epoch(number)

    @property
    def epoch_steps(self) -> int:
        """Steps of an epoch."""
        return len(self._batches)

    def step(self) -> float:
        """Seconds that one step takes, its data included."""
        began = self._now()
        self._cohort.step(next(self._feed), 0.0)
        return self._now() - began

    def read(self, samples: int | None = None) -> float:
        """Seconds that the readings after an epoch take, on so many samples or on all."""
        split = Split(self._split.x[:samples], self._split.y[:samples])
        began = self._now()
        for observer in EVERY_EPOCH:
            observer(self._cohort.net, split)
        return self._now() - began

    def _now(self) -> float:
        if str(self._cohort.device).startswith("cuda"):
            torch.cuda.synchronize(self._cohort.device)
        return time.perf_counter()
