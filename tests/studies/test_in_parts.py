"""A table that several processes make is the table that one makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli.commands import run, start
from studies.small_grids import grid, study_of, train

from depthgauge.studies.tidy import TidyTable

IN_PARTS = """
import os, resource, sys
from depthgauge.cli.main import main
from depthgauge.studies import in_parts

os.cpu_count, in_parts.AT_ONCE = lambda: 2, 1
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0)
sys.exit(status)
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine runs in six cohorts."""
    trained = grid("dfa", "bp", "fa[shallow]", ks=(0, 2), seeds=(1,))
    study = study_of(trained, tmp_path_factory.mktemp("parts") / "study")
    train(study, trained)
    more = grid("bp[learning_rate=0.01]", "dfa[penalty=0.1]", ks=(2,), seeds=(1, 2))
    train(study, more)
    assert len(TidyTable(study.path)) > 4
    return study.path


def in_processes(*arguments: object) -> tuple[int, str, str]:
    process = start("-c", IN_PARTS, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_processes_make_the_same_table(study, tmp_path, kind):
    alone, parts = tmp_path / f"alone.{kind}", tmp_path / f"parts.{kind}"
    assert run("export", study, "-o", alone).status == 0
    assert in_processes("export", study, "-o", parts) == (0, f"{parts}\nTrue\n", "")
    if kind == "csv":
        assert parts.read_bytes() == alone.read_bytes()
        return
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    assert parquet.read_table(parts) == parquet.read_table(alone)


def test_what_they_find_is_said_once(study, tmp_path):
    torn = sorted(study.glob("runs/*/metrics.jsonl"))[1]
    whole = torn.read_bytes()
    torn.write_bytes(whole[:-60])
    status, _, err = in_processes("export", study, "-o", tmp_path / "runs.csv")
    torn.write_bytes(whole)
    assert status == 0
    assert err.count("1 runs that are done have lost epochs") == 1
    assert f"runs/{torn.parent.name}" in err


def test_what_stops_one_of_them_is_one_sentence(study, tmp_path):
    blocked = sorted(study.glob("runs/*/metrics.jsonl"))[1]
    whole = blocked.read_bytes()
    blocked.unlink()
    blocked.mkdir()
    status, _, err = in_processes("export", study, "-o", tmp_path / "runs.csv")
    alone = run("export", study, "-o", tmp_path / "runs.csv")
    blocked.rmdir()
    blocked.write_bytes(whole)
    assert (status, err) == (alone.status, alone.err)
    assert status == 2
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
