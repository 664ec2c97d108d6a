"""How close the untrained stack is to the identity, over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from depthgauge.config import SCHEMA_VERSION, NetConfig
from depthgauge.gauges.identity import read_identity
from depthgauge.nets.registry import initial_net
from depthgauge.scheduling.plan import check_list
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs


def identity_config(
    task: Task, net: NetConfig, seeds: Sequence[int], samples: int
) -> dict[str, Any]:
    """What is measured, on what."""
    check_list("--seeds", seeds)
    return {
        "task": task.name,
        "checksum": task.checksum,
        "net": net.model_dump(mode="json"),
        "seeds": list(seeds),
        "samples": min(samples, len(task.evaluation)),
        "split": task.evaluated_on,
    }


def measure_identity(
    task: Task, net: NetConfig, seeds: Sequence[int], samples: int
) -> dict[str, Any]:
    """Read each seed's initial network on the first `samples` of the evaluation split."""
    config = identity_config(task, net, seeds, samples)
    x = as_inputs(task.evaluation.x[:samples], task, torch.float32)
    readings = [read_identity(initial_net(net, task, seed), x) for seed in seeds]
    ratios = [reading.per_block_ratio for reading in readings]
    per_block = [statistics.fmean(column) for column in zip(*ratios, strict=True)]
    return {
        "schema_version": SCHEMA_VERSION,
        "config": config,
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
