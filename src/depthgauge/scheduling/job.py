"""What an executor is asked to do, in a form that can be sent to another process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from depthgauge.config import Engine


@dataclass(frozen=True)
class Job:
    """Train these cohorts of the plan in `folder`, or what stands in their place."""

    folder: Path
    cohorts: tuple[str, ...]
    device: str
    threads: int
    save_every: float
    command: str
    engine: Engine = "cohort"
