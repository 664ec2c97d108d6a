"""The training engines by their names in a configuration."""

from __future__ import annotations

from depthgauge.config import Engine
from depthgauge.training.plain import PlainCohort
from depthgauge.training.stacked_mlp.cohort import Cohort

ENGINES: dict[Engine, type[Cohort]] = {"cohort": Cohort, "plain": PlainCohort}
