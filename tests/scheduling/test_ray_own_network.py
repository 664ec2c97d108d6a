"""A user's network on a node that does not see the user's file: the study's copy travels."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cli.commands import run, start
from cli.own_networks import COMMON, write_network
from scheduling.ray_clusters import on_ray, three_nodes
from scheduling.small_grids import outcome
from scheduling.small_jobs import work

from depthgauge.api import plan
from depthgauge.nets.user import sources as user_sources
from depthgauge.scheduling.execution import prepare
from depthgauge.scheduling.grid import build_grid, load_task_of
from depthgauge.scheduling.on_ray.file_transfer import deliver, pack, unpack
from depthgauge.store.study_folder import StudyFolder
from depthgauge.study_config import study_config
from depthgauge.study_pipeline import execution_of

PATIENCE = 300


def test_a_run_away_from_the_file_gives_the_bits_of_a_run_beside_it(tmp_path):
    net = write_network(tmp_path)
    config = study_config(
        {
            "net": f"{net}:make",
            "blocks": "encoder.layers",
            "task": "digits",
            "rules": ["dfa"],
            "k": [2],
            "seeds": [1],
            "epochs": 1,
            "threads": 1,
        }
    )
    assert plan(config, kind="ladder").cohorts == 1
    grid = build_grid(config, load_task_of(config))
    prepared = [
        prepare(grid, tmp_path / name, execution_of(config), networks=False)
        for name in ("here", "there")
    ]
    work(prepared[0].job)
    study = StudyFolder(tmp_path / "there")
    (cohort,) = study.plan_files.read().current
    parcel = pack(study, cohort)
    net.unlink()
    away = unpack(parcel, tmp_path / "away")
    saved = list((away.path / "sources").glob("*.py"))
    assert [path.read_bytes() for path in saved] == [*parcel.sources.values()]
    work(replace(prepared[1].job, folder=away.path))
    files = {
        f"{folder.name}/{path.name}": path.read_bytes()
        for folder in away.runs.glob("*")
        for path in folder.glob("*.*")
    }
    deliver(study, cohort, files)
    assert outcome(study.path) == outcome(tmp_path / "here")
    assert user_sources.file_of_source(cohort.net.source).is_file()


@pytest.mark.slow
def test_a_ray_cluster_trains_a_users_network(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'depthgauge[ray]'")
    net = write_network(tmp_path)
    typed = [
        *("ladder", "--net", f"{net}:make", *COMMON, "--rules", "bp", "dfa", "--k", 0, 2),
        *("--seeds", 1, "--no-twins", "--no-floors", "--json"),
    ]
    assert run(*typed, "--out", tmp_path / "here").status == 0
    with three_nodes() as cluster:
        away = (*typed, "--out", tmp_path / "away", *on_ray(cluster.address))
        assert start("-m", "depthgauge.cli.main", *away).wait(PATIENCE) == 0
    assert outcome(tmp_path / "away") == outcome(tmp_path / "here")
