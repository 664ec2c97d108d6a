"""What a study will cost: tried for a few steps of each kind of cohort, nothing of it kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from depthgauge.config import Engine
from depthgauge.errors import UserError, one_line
from depthgauge.rules.choice import choose_rule
from depthgauge.store.plan_files import CohortPlan
from depthgauge.studies.costs import cohort_bytes
from depthgauge.studies.sizing import ends_after
from depthgauge.studies.trial import Trial
from depthgauge.tasks.base import Task

STEPS = 3
"""Steps that are timed, after one that is not."""


@dataclass(frozen=True)
class Expected:
    """Seconds of a whole cohort, and the most memory that one process needs for one, in bytes."""

    seconds: dict[str, float]
    memory: int

    def wall_seconds(self, workers: int) -> float:
        """Until all is done, with so many cohorts side by side."""
        return ends_after(list(self.seconds.values()), workers)


def expect(
    cohorts: Sequence[CohortPlan],
    task: Task,
    device: str,
    behind: Callable[[CohortPlan], float] = lambda cohort: 0.0,
    engine: Engine = "cohort",
) -> Expected:
    """Try one cohort of each kind; `behind` is the share of a cohort that is done already."""
    tried: dict[tuple[object, ...], float] = {}
    seconds, memory = {}, 0
    for cohort in cohorts:
        kind = (cohort.rules[0].config.name, cohort.net, cohort.recipe, len(cohort.runs))
        try:
            memory = max(memory, cohort_bytes(cohort, task, engine))
            if kind not in tried:
                tried[kind] = _seconds(cohort, task, device, engine)
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"{cohort.label} fails: {one_line(error)}") from error
        seconds[cohort.name] = tried[kind] * (1 - behind(cohort))
    return Expected(seconds, memory)


def _seconds(cohort: CohortPlan, task: Task, device: str, engine: Engine) -> float:
    """From beginning to end."""
    rules = [choose_rule(cohort.typed(position)).build() for position in range(len(cohort.runs))]
    trial = Trial(cohort.configs, rules, task, device, engine)
    trial.step()
    step = sum(trial.step() for _ in range(STEPS)) / STEPS
    return cohort.recipe.epochs * (trial.epoch_steps * step + trial.read())
