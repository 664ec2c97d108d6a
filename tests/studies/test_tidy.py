"""The tidy table holds exactly what was measured: every run, every epoch, nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from store.small_runs_on_disk import finished, metrics_line, run_config, started
from studies.small_grids import grid, plan, study_of, train

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.tidy import TidyTable

MEASURED = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs done with two blocks, two without any, and one planned alone."""
    trained = grid("dfa", "bp[shallow]", ks=(0, 2), seeds=(1, 2))
    study = study_of(trained, tmp_path_factory.mktemp("tidy") / "study")
    train(study, trained)
    plan(study, grid("fa", ks=(0,), seeds=(1,)))
    return study.path


@pytest.fixture
def study(trained_once: Path, tmp_path: Path) -> StudyFolder:
    return StudyFolder(shutil.copytree(trained_once, tmp_path / "study"))


def table_of(study: StudyFolder) -> list[dict[str, Any]]:
    table = TidyTable(study.path)
    runs = table.runs(slice(None))
    rows = (run.beginning + rest for run in runs for rest in run.rests)
    return [dict(zip(table.columns, row, strict=True)) for row in rows]


def rows_of(study: StudyFolder, folder: RunFolder) -> list[dict[str, Any]]:
    return [row for row in table_of(study) if row["run"] == folder.config.identity]


def measured(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the line of metrics that it comes from."""
    blocks = row["blocks"]
    line = {name: row[name] for name in MEASURED}
    for name in ("h_norm", "g_norm"):
        line[name] = [row[f"{name}_{layer}"] for layer in range(blocks + 1)]
    return line


def test_every_epoch_of_every_run_is_there_and_nothing_else(study):
    table = table_of(study)
    for folder in study.all_runs():
        lines = [json.loads(line) for line in folder.metrics_path.read_text().splitlines()]
        assert [measured(row) for row in table if row["run"] == folder.config.identity] == lines
        assert len(lines) == folder.config.recipe.epochs + 1
    trained = [row["run"] for row in table if row["epoch"] is not None]
    assert len(trained) == 4 * len(list(study.all_runs())) == 24


def test_the_configuration_stands_in_every_row(study):
    for folder in study.all_runs():
        config = folder.config
        for row in rows_of(study, folder):
            assert (row["rule"], row["label"]) == (config.rule.name, config.rule.label)
            assert json.loads(row["options"]) == config.rule.options
            assert (row["k"], row["seed"]) == (config.k, config.seed)
            assert (row["task"], row["evaluated_on"]) == (config.task.name, "test")
            for part, names in {
                config.net: ("width", "blocks"),
                config.recipe: (
                    *("epochs", "batch_size", "dtype", "learning_rate"),
                    *("weight_decay", "penalty", "targets"),
                ),
            }.items():
                assert [row[name] for name in names] == [getattr(part, name) for name in names]
            assert row["net"] == config.net.name


def test_the_deepest_network_decides_about_columns(study):
    columns = TidyTable(study.path).columns
    assert columns[-6:] == [
        f"{name}_{layer}" for name in ("h_norm", "g_norm") for layer in (0, 1, 2)
    ]
    shallow = [row for row in table_of(study) if row["blocks"] == 0 and row["epoch"] is not None]
    assert shallow
    for row in shallow:
        assert row["h_norm_0"] > 0
        assert row["g_norm_0"] > 0
        assert [row[f"{name}_{layer}"] for name in ("h_norm", "g_norm") for layer in (1, 2)] == (
            [None] * 4
        )


def test_states(study):
    planned = {row["run"]: row["state"] for row in table_of(study)}
    left = [run for run, state in planned.items() if state == "not done"]
    assert sorted(planned.values()) == ["done"] * 6 + ["not done"]
    (row,) = [row for row in table_of(study) if row["run"] == left[0]]
    assert row["epoch"] is None
    assert row["accuracy"] is None


def test_a_run_that_failed_keeps_its_epochs(study):
    folder = next(study.all_runs())
    folder.result_path.unlink()
    folder.fail("ZeroDivisionError", "", {})
    rows = rows_of(study, folder)
    assert [(row["state"], row["epoch"]) for row in rows] == [("failed", n) for n in range(4)]


def test_a_run_that_is_not_finished_has_the_epochs_it_has(study):
    folder = next(study.all_runs())
    folder.result_path.unlink()
    folder.metrics.rewind(1)
    rows = rows_of(study, folder)
    assert [(row["state"], row["epoch"]) for row in rows] == [("not done", 0), ("not done", 1)]


def test_the_last_line_of_an_epoch_counts_and_one_cut_short_does_not(study):
    folder = next(study.all_runs())
    folder.metrics.append(metrics_line(1, accuracy=0.25) | {"g_over_e": 0.5})
    with folder.metrics_path.open("a") as handle:
        handle.write('{"epoch": 3, "acc')
    rows = rows_of(study, folder)
    assert [row["epoch"] for row in rows] == [0, 1, 2, 3]
    assert rows[1]["accuracy"] == 0.25
    assert [measured(row) for row in rows] == folder.metrics.lines()


def test_runs_outside_the_plan_come_last(study):
    done = finished(study.runs, run_config(seed=7), 0.5)
    begun = started(study.runs, run_config(seed=8), 1)
    table = table_of(study)
    last = [(row["run"], row["state"], row["epoch"]) for row in table[-6:]]
    assert sorted(last) == sorted(
        [(done.config.identity, "done", epoch) for epoch in range(4)]
        + [(begun.config.identity, "not done", epoch) for epoch in range(2)]
    )
    assert [measured(row) for row in rows_of(study, done)] == [
        line | {"g_over_e": None} for line in done.metrics.lines()
    ]


def test_what_is_no_run_is_passed_over(study):
    before = table_of(study)
    (study.runs / "notes").mkdir()
    (study.runs / "notes" / "metrics.jsonl").write_text(json.dumps(metrics_line(0)) + "\n")
    (study.runs / "list.txt").write_text("not a run")
    assert table_of(study) == before


def test_a_deeper_network_outside_the_plan_has_columns_too(study):
    config = run_config().model_copy(update={"net": NetConfig(width=3, blocks=5)})
    finished(study.runs, config, 0.5)
    assert "g_norm_5" in TidyTable(study.path).columns


def test_a_study_that_was_not_begun_has_its_planned_runs(tmp_path):
    planned = grid("dfa", ks=(0, 2), seeds=(1,))
    study = study_of(planned, tmp_path / "study")
    assert table_of(study) == []
    plan(study, planned)
    assert [row["state"] for row in table_of(study)] == ["not done"] * 2


def test_a_folder_that_is_not_a_study_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"study\.json"):
        TidyTable(tmp_path)
