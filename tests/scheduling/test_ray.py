"""A study on a real Ray cluster: the same bits, and nothing lost when parts of it die."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest
from cli.commands import SMALL, assert_bad_input, start
from cli.waiting import Study, until
from scheduling.ray_clusters import RayStudy, on_ray, run_outside, three_nodes

pytest.importorskip("ray", reason="Ray is not installed: pip install 'depthgauge[ray]'")

PATIENCE = 200
REFUSED_WITHIN = 30


@pytest.fixture
def here(tmp_path):
    """What the same command gives on this machine alone."""
    study = Study(tmp_path, cohorts=2, name="here")
    assert study.again().status == 0
    return study


@pytest.mark.slow
def test_three_nodes_give_the_bits_of_one_machine_also_when_a_worker_and_a_node_die(here, tmp_path):
    study = RayStudy(tmp_path, cohorts=2)
    with three_nodes(study.waits) as cluster:
        study.on(cluster)
        process = study.begin(cores=2)
        worker = study.waiting[0]
        os.kill(worker, signal.SIGKILL)
        until(lambda: len(study.waiting) >= 3)
        busy = next(pid for pid in study.waiting if pid != worker)
        cluster.remove_node(node_of(cluster, busy), allow_graceful=False)
        done = study.end(process)
    assert done.status == 0, done
    assert study.metrics() == here.metrics()
    assert len(study.metrics()) == 4


def node_of(cluster, pid):
    """The node that a worker belongs to, or any other that is not the head."""
    parents = {parent.pid for parent in psutil.Process(pid).parents()}
    others = [node for node in cluster.list_all_nodes() if node is not cluster.head_node]
    for node in others:
        raylets = node.all_processes.get("raylet", [])
        if parents & {info.process.pid for info in raylets}:
            return node
    return others[0]


@pytest.mark.slow
def test_the_driver_can_be_killed_and_the_same_command_goes_on(here, tmp_path):
    study = RayStudy(tmp_path, cohorts=2)
    with three_nodes(study.waits) as cluster:
        study.on(cluster)
        process = study.begin(cores=2)
        process.kill()
        process.communicate()
        study.go()
        again = start("-m", "depthgauge.cli.main", *study.command)
        assert again.wait(PATIENCE) == 0
    assert study.metrics() == here.metrics()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:1",
        pytest.param("nowhere.invalid:1", marks=pytest.mark.slow),
        pytest.param("ray://127.0.0.1:1", marks=pytest.mark.slow),
    ],
)
def test_an_address_where_nothing_listens_is_refused_soon(address, tmp_path):
    began = time.monotonic()
    asked = ("ladder", *SMALL, "--rules", "bp", "--seeds", 1, "--k", 0, "--out", tmp_path / "study")
    done = run_outside(*asked, *on_ray(address))
    assert_bad_input(done, f"no Ray cluster can be reached at {address}", "HOST:PORT")
    assert time.monotonic() - began < REFUSED_WITHIN
