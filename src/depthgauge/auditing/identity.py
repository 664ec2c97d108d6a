"""The distance of untrained networks from the identity map, over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from pydantic import JsonValue

from depthgauge.config import SCHEMA_VERSION, NetConfig
from depthgauge.errors import UserError
from depthgauge.gauges.identity import IdentityReading, read_identity
from depthgauge.json_values import plain_object
from depthgauge.nets.registry import initial_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.results.spread import Spread
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs


@dataclass(frozen=True)
class IdentityResult:
    """The measured distance of untrained networks from the identity map.

    Attributes:
        task, checksum: the name of the task, and the checksum of its data.
        split: the split of the data from which samples were read: test or validation.
        samples: the number of samples that were read.
        net: the configuration of the network.
        per_seed: by seed, the reading of the network that the seed initialises.
    """

    task: str
    checksum: str
    split: str
    samples: int
    net: NetConfig
    per_seed: Mapping[int, IdentityReading]

    @property
    def per_block_ratio(self) -> list[float]:
        """Return for each block l the ratio ‖f_l‖/‖h_l‖: median over samples, mean over seeds.

        h_l is the state of the stream before the block, and f_l is what the block adds to it.
        """
        ratios = [reading.per_block_ratio for reading in self.per_seed.values()]
        return [statistics.fmean(column) for column in zip(*ratios, strict=True)]

    @property
    def rel_dev(self) -> Spread:
        """Return ‖h_L − h_0‖/‖h_0‖ over seeds; h_0 is the stream's first state, h_L its last."""
        return Spread.of(reading.rel_dev for reading in self.per_seed.values())

    @property
    def cos(self) -> Spread:
        """Return over seeds the cosine between the stream's first state h_0 and last state h_L."""
        return Spread.of(reading.cos for reading in self.per_seed.values())

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the result for a JSON document."""
        return plain_object(
            {
                "schema_version": SCHEMA_VERSION,
                "config": {
                    "task": self.task,
                    "checksum": self.checksum,
                    "net": self.net,
                    "seeds": list(self.per_seed),
                    "samples": self.samples,
                    "split": self.split,
                },
                "per_seed": self.per_seed,
                "per_block_ratio_mean": self.per_block_ratio,
                "per_block_ratio_grand_mean": statistics.fmean(self.per_block_ratio),
                "rel_dev_mean": self.rel_dev.mean,
                "rel_dev_std": self.rel_dev.std,
                "cos_mean": self.cos.mean,
                "cos_std": self.cos.std,
            }
        )


def measure_identity(
    task: Task, net: NetConfig, seeds: Sequence[int], samples: int
) -> IdentityResult:
    """Measure for each seed how close the untrained network is to the identity map.

    The networks read the first `samples` samples of the evaluation split.
    """
    if not net.is_residual_mlp:
        raise UserError(
            f"identity reads the net residual_mlp, whose blocks return branches, not {net.name}; "
            "leave out --net"
        )
    x = as_inputs(task.evaluation.x[:samples], task, torch.float32)
    readings = {
        seed: read_identity(cast(ResidualMLP, initial_net(net, task, seed)), x) for seed in seeds
    }
    return IdentityResult(task.name, task.checksum, task.evaluated_on, len(x), net, readings)
