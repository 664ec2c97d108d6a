"""Studies on Ray nodes that see no shared folder, or have too little; runs that raise or stop."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.commands import assert_bad_input, run
from cli.waiting import WAITS_AT, Study, until
from scheduling.ray_clusters import (
    BlindCluster,
    RayStudy,
    can_hide_folders,
    on_ray,
    one_blind_node,
    run_outside,
)
from scheduling.small_grids import outcome

pytest.importorskip("ray", reason="Ray is not installed: pip install 'depthgauge[ray]'")

HEARD_AFTER = 5.0
"""Seconds after which a worker has heard that it is to stop."""

RAISES_FOR_ONE_SEED = """
from depthgauge.rules.dfa import DFA


class Picky(DFA):
    name = "picky"

    def feedback(self, net, generator):
        if generator.initial_seed() == 13:
            raise ZeroDivisionError("the author divided by zero")
        return super().feedback(net, generator)
"""

needs_hiding = pytest.mark.skipif(
    not can_hide_folders(), reason="`unshare --mount` is missing or not permitted here"
)
SEEN_OR_NOT = [
    pytest.param("seen", id="seen", marks=pytest.mark.slow),
    pytest.param("unseen", id="unseen", marks=[needs_hiding, pytest.mark.slow]),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlindCluster]:
    with one_blind_node(tmp_path_factory.mktemp("ray")) as started:
        yield started


@pytest.fixture
def folders(cluster: BlindCluster, tmp_path: Path) -> dict[str, Path]:
    """Where a study may lie; nobody waits for anything any more."""
    for sign in cluster.waits.iterdir():
        sign.unlink()
    unseen = cluster.unseen / tmp_path.name
    unseen.mkdir()
    return {"seen": tmp_path, "unseen": unseen}


@pytest.fixture
def here(tmp_path: Path) -> Study:
    """What the same command gives on this machine alone."""
    study = Study(tmp_path, name="here")
    assert study.again().status == 0
    return study


# A run that raises


def picky(folder: Path, name: str, *more: object) -> tuple[Path, list[object]]:
    """A study's folder, and the command that trains a cohort of four in it, of which two raise."""
    rules = folder / "picky_rules.py"
    rules.write_text(RAISES_FOR_ONE_SEED)
    return folder / name, [
        *("ladder", "--width", 8, "--depth", 1, "--rules", f"{rules}:Picky"),
        *("--k", 0, 1, "--seeds", 1, 13, "--epochs", 2, "--batch-size", 2000, "--threads", 1),
        *("--no-twins", "--no-floors", "--out", folder / name, "--json", *more),
    ]


def reasons(study: Path) -> dict[str, str]:
    failed = study.glob("runs/*/failed.json")
    return {path.parent.name: json.loads(path.read_text())["reason"] for path in failed}


@pytest.mark.parametrize("place", SEEN_OR_NOT)
def test_a_run_that_raises_does_not_stop_the_others(cluster, folders, place):
    on_one_machine, command = picky(folders["seen"], "here")
    assert run(*command).status == 1
    study, command = picky(folders[place], "study", *on_ray(cluster.address))
    done = run_outside(*command)
    assert done.status == 1, done
    assert "picky k=0 seed=13 and 1 more failed: ZeroDivisionError" in done.err
    assert list(reasons(study).values()) == ["ZeroDivisionError: the author divided by zero"] * 2
    assert reasons(study) == reasons(on_one_machine)
    assert len(outcome(study)) == 2
    assert outcome(study) == outcome(on_one_machine)
    assert list((study / "claims").iterdir()) == []


# A node that does not see the study's folder


@needs_hiding
@pytest.mark.slow
def test_a_node_that_does_not_see_the_folder_gives_the_same_bits(cluster, folders, here):
    """Nor does it see the file with the rule."""
    study = RayStudy(folders["unseen"]).on(cluster)
    process = study.begin()
    assert outcome(study.folder) == {}  # it is in the middle
    done = study.end(process)
    assert (done.status, done.err) == (0, ""), done
    assert len(outcome(study.folder)) == 2
    assert outcome(study.folder) == outcome(here.folder)
    assert list((study.folder / "claims").iterdir()) == []


class SavingStudy(RayStudy):
    """A study that is saved after every step."""

    @property
    def command(self) -> list[object]:
        return [*super().command, "--save-every", 0]


@needs_hiding
@pytest.mark.slow
def test_a_killed_worker_that_does_not_see_the_folder_is_followed_from_what_came_back(
    cluster, folders, here
):
    study = SavingStudy(folders["unseen"]).on(cluster)
    process = study.begin()
    until(lambda: len(list(study.folder.glob("runs/*/checkpoint.safetensors"))) == 2)
    (came_back,) = study.positions()
    assert came_back is not None
    os.kill(study.waiting[0], signal.SIGKILL)
    until(lambda: len(study.waiting) == 2)
    done = study.end(process)
    assert done.status == 0, done
    assert outcome(study.folder) == outcome(here.folder)
    results = [json.loads(p.read_text()) for p in study.folder.glob("runs/*/result.json")]
    assert [one["provenance"]["resumed_from"] for one in results] == [[*came_back]] * 2


# An interrupt


@pytest.mark.slow
@pytest.mark.parametrize("place", SEEN_OR_NOT)
def test_asked_to_stop_it_saves_and_goes_on_without_ray(cluster, folders, place, here):
    study = RayStudy(folders[place]).on(cluster)
    process = study.begin()
    process.send_signal(signal.SIGTERM)
    time.sleep(HEARD_AFTER)
    done = study.end(process)
    assert (done.status, done.out) == (128 + signal.SIGTERM, ""), done
    assert done.err.startswith("depthgauge: stopped, and everything is saved"), done.err
    assert outcome(study.folder) == {}
    assert study.positions() == {WAITS_AT}
    assert Study(study.parent).again().status == 0
    assert outcome(study.folder) == outcome(here.folder)


# Too little of something


def one_run(folder: Path, width: int, threads: int) -> list[object]:
    """Which must be refused: it would take long."""
    return [
        *("ladder", "--width", width, "--depth", 1, "--rules", "dfa", "--k", 0, "--seeds", 1),
        *("--threads", threads, "--no-floors", "--out", folder / "study"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "width",
    [
        pytest.param(20000, id="any node has"),
        pytest.param(8000, id="any node with cores has"),
    ],
)
def test_a_cohort_that_needs_more_memory_than_there_is_is_refused(cluster, folders, width):
    """Its head has 4 GB, but no cores; the node with cores has 2 GB.

    Two matrices, drawn, kept, their gradients and moments: five times their bytes, and once more
    while a checkpoint is written; and a process.
    """
    done = run_outside(*one_run(folders["seen"], width, 1), *on_ray(cluster.address))
    assert_bad_input(done, "dfa needs 1 CPUs, 0 GPUs and ", "and no node of the cluster has")
    needed = float(re.search(r"and ([0-9.]+) GB, and no node", done.err)[1])
    held = 4 * 5 * 2 * width**2 / 1e9
    assert held < needed < 3 * held
    assert not (folders["seen"] / "study" / "runs").exists()


@pytest.mark.slow
def test_more_threads_than_any_node_has_cores_are_refused(cluster, folders):
    """All nodes together have four."""
    with cluster.one_node_more():
        done = run_outside(*one_run(folders["seen"], 8, 3), *on_ray(cluster.address))
    assert_bad_input(done, "dfa needs 3 CPUs", "no node of the cluster has that much")
