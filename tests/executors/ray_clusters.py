"""A real Ray cluster of three nodes on this machine, and studies that are trained on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cli.waiting import Study

import depthgauge

SOURCE = str(Path(depthgauge.__file__).parent.parent)
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH")))),
}


@contextmanager
def three_nodes(waits: Path | None = None) -> Iterator[Any]:
    """One core each; rules of `waiting_rules.py` wait if there is a folder to wait in."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (Ray may not be installed)

    more = {} if waits is None else {"TEST_WAITS_IN": str(waits)}
    with patch.dict(os.environ, ENVIRONMENT | more):
        head = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
            yield cluster
        finally:
            cluster.shutdown()


class RayStudy(Study):
    """A study of three cohorts whose command is given to a cluster."""

    def on(self, cluster: Any) -> RayStudy:
        self.address = cluster.address
        return self

    @property
    def command(self) -> list[object]:
        return [*super().command, "--executor", "ray", "--address", self.address]
