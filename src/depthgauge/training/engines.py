"""Choose who trains a cohort: the stacked path for residual MLPs, the general path for the rest."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from depthgauge.config import Engine, NetConfig, RunConfig
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Task
from depthgauge.training.local.runs import LocalRuns
from depthgauge.training.stacked_mlp.cohort import Cohort
from depthgauge.training.trainee import Trainee


def can_be_stacked(net: NetConfig) -> bool:
    """Return whether many networks of this configuration can be trained as one."""
    return net.name == NetConfig().name


def make_trainee(
    configs: Sequence[RunConfig],
    rules: Sequence[Rule],
    task: Task,
    device: torch.device | str = "cpu",
    *,
    engine: Engine = "cohort",
) -> Trainee:
    """Return the untrained runs of a cohort; with the engine plain, they are never stacked."""
    stacked = engine == "cohort" and all(can_be_stacked(config.net) for config in configs)
    return (Cohort if stacked else LocalRuns)(configs, rules, task, device)
