"""`depthgauge export`: what was measured, as one table in CSV or Parquet."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from cli.commands import assert_bad_input, run, run_ladder, write_rules
from cli.exported_tables import MEASURED, READ
from store.small_runs_on_disk import contents

Lines = dict[tuple[str, int], dict[str, Any]]
"""By run and epoch."""


def recorded(study: Path) -> Lines:
    """What stands in the metrics of all runs."""
    found = {}
    for path in study.glob("runs/*/metrics.jsonl"):
        for text in path.read_text().splitlines():
            line = json.loads(text)
            found[path.parent.name, line["epoch"]] = line
    return found


def lines_of(rows: list[dict[str, Any]]) -> Lines:
    found = {}
    for row in rows:
        layers = range(row["blocks"] + 1)
        line = {name: row[name] for name in MEASURED}
        for name in ("h_norm", "g_norm"):
            line[name] = [row[f"{name}_{layer}"] for layer in layers]
        found[row["run"], row["epoch"]] = line
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("kind", list(READ))
def test_the_table_has_exactly_what_was_measured(study, kind):
    before = contents(study)
    done = run("export", study, "--format", kind)
    assert (done.status, done.out, done.err) == (0, f"{study / f'runs.{kind}'}\n", "")
    rows = READ[kind](study / f"runs.{kind}")
    assert lines_of(rows) == recorded(study)
    assert len(rows) == 12 * 2
    assert {
        name: file for name, file in contents(study).items() if name != f"runs.{kind}"
    } == before


def test_both_formats_say_the_same(stopped, tmp_path):
    for kind in READ:
        assert run("export", stopped, "--format", kind, "-o", tmp_path / kind).status == 0
    rows = [read(tmp_path / kind) for kind, read in READ.items()]
    assert rows[0] == rows[1]
    assert {row["state"] for row in rows[0]} == {"stopped"}
    assert lines_of(rows[0]) == recorded(stopped)


@pytest.mark.parametrize("kind", list(READ))
def test_what_is_not_finite_is_empty(tmp_path, kind):
    path, out = write_rules(tmp_path), tmp_path / "out"
    run_ladder(out, "--k", 2, rules=(f"{path}:Exploding",))
    assert run("export", out, "--format", kind).status == 0
    last = [row for row in READ[kind](out / f"runs.{kind}") if row["epoch"] == 1]
    assert [(row["train_loss"], row["diverged"]) for row in last] == [(None, True)] * 2


def test_types_of_parquet(study):
    parquet = pytest.importorskip("pyarrow.parquet")
    run("export", study, "--format", "parquet")
    schema = parquet.read_schema(study / "runs.parquet")
    types = {name: str(schema.field(name).type) for name in schema.names}
    assert types["seed"] == types["epoch"] == types["k"] == types["width"] == "int64"
    assert types["diverged"] == "bool"
    assert types["accuracy"] == types["g_norm_2"] == types["penalty"] == "double"
    assert types["label"] == types["options"]
    assert types["label"] in ("string", "large_string")


def test_the_largest_seed_fits(tmp_path):
    seed = 2**63 - 1
    out = tmp_path / "out"
    run_ladder(out, "--k", 0, "--seeds", seed, rules=("bp",))
    for kind, read in READ.items():
        assert run("export", out, "--format", kind).status == 0
        assert {row["seed"] for row in read(out / f"runs.{kind}")} == {seed}


def test_without_pyarrow_parquet_is_refused_and_csv_works(study, monkeypatch):
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    before = contents(study)
    done = run("export", study, "--format", "parquet")
    assert_bad_input(done, "pyarrow", "pip install 'depthgauge[parquet]'")
    assert contents(study) == before
    assert run("export", study).status == 0


def test_not_a_study(tmp_path):
    assert_bad_input(run("export", tmp_path), str(tmp_path), "study.json")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format(study):
    assert_bad_input(run("export", study, "--format", "xls"), "xls", "csv", "parquet")


def test_a_table_in_a_folder_that_is_not_there(study, tmp_path):
    assert_bad_input(
        run("export", study, "-o", tmp_path / "no" / "table.csv"), str(tmp_path / "no")
    )


def test_the_name_of_the_output_says_its_format(study, tmp_path):
    assert run("export", study, "-o", tmp_path / "x.csv").status == 0
    assert (tmp_path / "x.csv").read_text().startswith("run,")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert run("export", study, "-o", tmp_path / "x.parquet").status == 0
    assert (tmp_path / "x.parquet").read_bytes().startswith(b"PAR1")


def test_done_runs_that_have_lost_epochs_are_said(study):
    assert run("export", study).err == ""
    torn = sorted(study.glob("runs/*/metrics.jsonl"))[1]
    torn.write_bytes(torn.read_bytes()[:-60])
    done = run("export", study)
    assert done.status == 0
    assert done.err.startswith("depthgauge: the table lacks epochs of 1 finished run,")
    assert f"runs/{torn.parent.name}" in done.err
