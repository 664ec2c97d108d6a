"""What an executor is asked to do, in a form that can be sent to another process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from depthgauge.store.plan_files import CohortPlan

FEW_LABELS = 2
"""So many are named one by one."""


@dataclass(frozen=True)
class Job:
    """Train these cohorts of the plan in `folder`, or what stands in their place."""

    folder: Path
    cohorts: tuple[str, ...]
    device: str
    threads: int
    save_every: float
    command: str


def label_of(cohort: CohortPlan) -> str:
    """What a cohort is called in progress bars and messages."""
    labels = [rule.config.label for rule in cohort.rules]
    if len(labels) > FEW_LABELS:
        return f"{cohort.rules[0].config.name} at {len(labels)} settings"
    return ", ".join(labels)
