"""What a study will cost: measured on a few steps of each kind of cohort, nothing written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import psutil
import torch

from depthgauge.config import Engine
from depthgauge.errors import UserError, one_line
from depthgauge.rules.choice import choose_rule
from depthgauge.store.plan_files import CohortPlan
from depthgauge.studies.runner import EVERY_EPOCH
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches
from depthgauge.training.engines import ENGINES

STEPS = 3
"""Steps that are timed, after one that is not."""


@dataclass(frozen=True)
class Expected:
    """Seconds of a whole cohort, and the most memory that one process needs for one, in bytes."""

    seconds: dict[str, float]
    memory: int

    def wall_seconds(self, workers: int) -> float:
        """Until all is done, with so many cohorts side by side."""
        return max(sum(self.seconds.values()) / workers, max(self.seconds.values(), default=0.0))


def expect(
    cohorts: Sequence[CohortPlan],
    task: Task,
    device: str,
    behind: Callable[[CohortPlan], float] = lambda cohort: 0.0,
    engine: Engine = "cohort",
) -> Expected:
    """Try one cohort of each kind; `behind` is the share of a cohort that is done already."""
    tried: dict[tuple[object, ...], tuple[float, int]] = {}
    seconds = {}
    for cohort in cohorts:
        kind = (cohort.rules[0].config.name, cohort.net, cohort.recipe, len(cohort.runs))
        if kind not in tried:
            try:
                tried[kind] = _try(cohort, task, device, engine)
            except UserError:
                raise
            except Exception as error:
                raise UserError(f"{cohort.label} fails: {one_line(error)}") from error
        seconds[cohort.name] = tried[kind][0] * (1 - behind(cohort))
    return Expected(seconds, max((memory for _, memory in tried.values()), default=0))


def _try(cohort: CohortPlan, task: Task, device: str, engine: Engine) -> tuple[float, int]:
    """Seconds from beginning to end, and the memory that the process then holds."""
    rules = [choose_rule(cohort.typed(position)).build() for position in range(len(cohort.runs))]
    stacked, recipe = ENGINES[engine](cohort.configs, rules, task, device), cohort.recipe
    batches = Batches(task, stacked.seeds, recipe.batch_size, stacked.dtype, device)
    feed = batches.epoch(0)
    stacked.start_epoch(0)
    stacked.step(next(feed), 0.0)
    began, steps = time.perf_counter(), 0
    for batch, _ in zip(chain(feed, batches.epoch(1)), range(STEPS), strict=False):
        stacked.step(batch, 0.0)
        steps += 1
    step = (time.perf_counter() - began) / steps
    split = evaluation_inputs(task, stacked.dtype, device)
    began = time.perf_counter()
    for observer in EVERY_EPOCH:
        observer(stacked.net, split)
    epoch = len(batches) * step + time.perf_counter() - began
    memory = psutil.Process().memory_info().rss
    if device.startswith("cuda"):
        memory = max(memory, torch.cuda.max_memory_allocated())
    return recipe.epochs * epoch, memory
