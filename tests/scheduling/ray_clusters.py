"""Real Ray clusters on this machine, and studies that are trained on them."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
from cli.commands import Done, complaints, start
from cli.waiting import PATIENCE, Study, until

import depthgauge

SOURCE = str(Path(depthgauge.__file__).parent.parent)
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH")))),
}
STORE = 80 * 2**20
HEAD_MEMORY, NODE_MEMORY = 4 * 10**9, 2 * 10**9


@contextmanager
def three_nodes(waits: Path | None = None) -> Iterator[Any]:
    """One core each; rules of `waiting_rules.py` wait if there is a folder to wait in."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (Ray may not be installed)

    more = {} if waits is None else {"TEST_WAITS_IN": str(waits)}
    with patch.dict(os.environ, ENVIRONMENT | more):
        head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1, object_store_memory=STORE)
            yield cluster
        finally:
            cluster.shutdown()


@dataclass(frozen=True)
class BlindCluster:
    """Rules wait in `waits` until they may go on; the node finds nothing in `unseen`."""

    temporary: Path
    address: str
    unseen: Path
    waits: Path

    @contextmanager
    def one_node_more(self) -> Iterator[None]:
        """Two cores more, on a node that sees everything."""
        with _node(self.temporary, f"--address={self.address}", "--num-cpus=2"):
            yield


@contextmanager
def one_blind_node(parent: Path) -> Iterator[BlindCluster]:
    """A head without cores, and a node with two to which a folder of `parent` looks empty.

    Both ask for a token, which is made here and known to what is started inside the block. Where
    folders cannot be hidden the node sees everything.
    """
    unseen, waits = parent / "unseen", parent / "waits"
    unseen.mkdir()
    waits.mkdir()
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    blind = {"TEST_WAITS_IN": str(waits), "TMPDIR": str(unseen)}
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, ENVIRONMENT | token))
        place = tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True)
        temporary = Path(stack.enter_context(place))
        head = ("--head", "--port=0", "--include-dashboard=false", "--num-cpus=0")
        stack.enter_context(_node(temporary, *head, f"--memory={HEAD_MEMORY}"))
        known = temporary / "ray_current_cluster"
        until(lambda: known.exists() and ":" in known.read_text())
        address = known.read_text().strip()
        node = (f"--address={address}", "--num-cpus=2", f"--memory={NODE_MEMORY}")
        before = _hiding(unseen) if can_hide_folders() else ()
        stack.enter_context(_node(temporary, *node, before=before, more=blind))
        yield BlindCluster(temporary, address, unseen, waits)


def can_hide_folders() -> bool:
    """Whether this machine lets us start a process that does not see some folder."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            command = [*_hiding(Path(folder)), "true"]
            tried = subprocess.run(command, check=False, capture_output=True)
        except FileNotFoundError:
            return False
    return tried.returncode == 0


def _hiding(folder: Path) -> list[str]:
    """Begins a command that finds `folder` empty, and whose files in it nobody else sees."""
    script = 'mount -t tmpfs none "$0" && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, str(folder)]


@contextmanager
def _node(
    temporary: Path, *options: str, before: Sequence[str] = (), more: dict[str, str] | None = None
) -> Iterator[None]:
    """A node by `ray start`, in a session of its own so that all of it can be found and ended."""
    log = temporary / f"{secrets.token_hex(4)}.log"
    always = (f"--temp-dir={temporary}", f"--object-store-memory={STORE}", "--block")
    with log.open("w") as output:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "ray.scripts.scripts", "start", *options, *always],
            env=os.environ | (more or {}),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        until(lambda: "Ray runtime started" in log.read_text() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            _end_session(process.pid)


def _end_session(session: int) -> None:
    for pid in psutil.pids():
        try:
            if os.getsid(pid) == session:
                psutil.Process(pid).kill()
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue


class RayStudy(Study):
    """A study whose command is given to a cluster."""

    def on(self, cluster: Any) -> RayStudy:
        self.address = cluster.address
        if isinstance(cluster, BlindCluster):
            self.waits = cluster.waits
        return self

    @property
    def command(self) -> list[object]:
        return [*super().command, *on_ray(self.address)]


def on_ray(address: str) -> tuple[str, ...]:
    return "--executor", "ray", "--address", address


def run_outside(*arguments: object) -> Done:
    """`depthgauge arguments…` as a process of its own, which must end."""
    with start(
        *("-m", "depthgauge.cli.main", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return Done(process.returncode, out, complaints(err))
