"""The training engines by their names in a configuration."""

from __future__ import annotations

from depthgauge.config import Engine
from depthgauge.training.cohort import Cohort
from depthgauge.training.plain import PlainCohort

ENGINES: dict[Engine, type[Cohort]] = {"cohort": Cohort, "plain": PlainCohort}
