"""How close the untrained stack is to the identity, over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from depthgauge.config import NetConfig
from depthgauge.gauges.identity import read_identity
from depthgauge.nets.registry import initial_net
from depthgauge.tasks.base import Task
from depthgauge.training.batches import as_inputs


def measure_identity(
    task: Task, net: NetConfig, seeds: Sequence[int], samples: int
) -> dict[str, Any]:
    """Read each seed's initial network on the first `samples` of the evaluation split."""
    x = as_inputs(task.evaluation.x[:samples], task, torch.float32)
    readings = [read_identity(initial_net(net, task, seed), x) for seed in seeds]
    ratios = [reading.per_block_ratio for reading in readings]
    per_block = [statistics.fmean(column) for column in zip(*ratios, strict=True)]
    return {
        "config": {
            "task": task.name,
            "net": net.model_dump(mode="json"),
            "seeds": list(seeds),
            "samples": len(x),
            "split": task.evaluated_on,
        },
        "per_seed": {
            str(seed): asdict(reading) for seed, reading in zip(seeds, readings, strict=True)
        },
        "per_block_ratio_mean": per_block,
        "per_block_ratio_grand_mean": statistics.fmean(per_block),
        **_over_seeds("rel_dev", [reading.rel_dev for reading in readings]),
        **_over_seeds("cos", [reading.cos for reading in readings]),
    }


def _over_seeds(name: str, values: Sequence[float]) -> dict[str, float | None]:
    spread = statistics.stdev(values) if len(values) > 1 else None
    return {f"{name}_mean": statistics.fmean(values), f"{name}_std": spread}
