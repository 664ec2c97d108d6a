"""Tables hold exactly what was measured: every run, every epoch, nothing else."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from golden.facts import EMBEDDED, REPRODUCTION
from results.written_studies import put_plan, write_audit, write_study
from scheduling.small_grids import grid, plan, study_of, train
from store.small_runs_on_disk import finished, metrics_line, run_config, started

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.results.data_frames import frame_of
from depthgauge.results.export import runs_with_lost_epochs, write_epochs
from depthgauge.results.load import load
from depthgauge.store.study_folder import StudyFolder

MEASURED = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs done with two blocks, two without any, and one planned alone."""
    trained = grid("dfa", "bp[shallow]", ks=(0, 2), seeds=(1, 2))
    study = study_of(trained, tmp_path_factory.mktemp("frames") / "study")
    train(study, trained)
    plan(study, grid("fa", ks=(0,), seeds=(1,)))
    return study.path


@pytest.fixture
def study(trained_once: Path, tmp_path: Path) -> StudyFolder:
    return StudyFolder(shutil.copytree(trained_once, tmp_path / "study"))


def epochs(study: StudyFolder, run: str | None = None) -> list[dict[str, Any]]:
    """The rows of a run, or all; what is missing is None."""
    frame = frame_of(load(study.path), "epochs")
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [row for row in rows if run in (None, row["run"])]


def measured(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the line of metrics that it comes from."""
    line = {name: row[name] for name in MEASURED}
    for name in ("h_norm", "g_norm"):
        line[name] = [row[f"{name}_{layer}"] for layer in range(row["blocks"] + 1)]
    return line


# Epochs


def test_every_epoch_of_every_run_is_there_and_nothing_else(study):
    table = epochs(study)
    for folder in study.all_runs():
        lines = [json.loads(line) for line in folder.metrics_path.read_text().splitlines()]
        assert [measured(row) for row in table if row["run"] == folder.config.identity] == lines
        assert len(lines) == folder.config.recipe.epochs + 1
    assert len([row for row in table if row["epoch"] is not None]) == 4 * 6
    (planned,) = (row for row in table if row["epoch"] is None)
    assert (planned["label"], planned["state"], planned["accuracy"]) == ("fa", "waiting", None)


def test_the_configuration_stands_in_every_row(study):
    for folder in study.all_runs():
        config = folder.config
        for row in epochs(study, config.identity):
            assert (row["rule"], row["label"]) == (config.rule.name, config.rule.label)
            assert json.loads(row["options"]) == config.rule.options
            assert (row["k"], row["seed"], row["net"]) == (config.k, config.seed, config.net.name)
            assert (row["task"], row["evaluated_on"]) == (config.task.name, "test")
            assert (row["width"], row["blocks"]) == (config.net.width, config.net.blocks)
            recipe = ("epochs", "batch_size", "dtype", "learning_rate", "penalty", "targets")
            assert [row[name] for name in recipe] == [getattr(config.recipe, n) for n in recipe]


def test_the_deepest_network_decides_about_columns(study):
    deeper = run_config().model_copy(update={"net": NetConfig(width=3, blocks=5)})
    finished(study.runs, deeper, 0.5)
    frame = frame_of(load(study.path), "epochs")
    norms = [f"{name}_{layer}" for name in ("h_norm", "g_norm") for layer in range(6)]
    assert list(frame.columns[-12:]) == norms
    shallow = frame[(frame["blocks"] == 0) & frame["epoch"].notna()]
    assert (shallow["h_norm_0"] > 0).all()
    assert shallow["h_norm_1"].isna().all()


@pytest.mark.parametrize("state", ["failed", "stopped"])
def test_a_run_that_is_not_done_keeps_the_epochs_it_has(study, state):
    folder = next(study.all_runs())
    folder.result_path.unlink()
    folder.metrics.rewind(1)
    if state == "failed":
        folder.fail("ZeroDivisionError", "", {})
    rows = epochs(study, folder.config.identity)
    assert [(row["state"], row["epoch"]) for row in rows] == [(state, 0), (state, 1)]


def test_the_last_line_of_an_epoch_counts_and_one_cut_short_does_not(study):
    folder = next(study.all_runs())
    folder.metrics.append(metrics_line(1, accuracy=0.25) | {"g_over_e": 0.5})
    with folder.metrics_path.open("a") as handle:
        handle.write('{"epoch": 3, "acc')
    rows = epochs(study, folder.config.identity)
    assert [row["epoch"] for row in rows] == [0, 1, 2, 3]
    assert rows[1]["accuracy"] == 0.25
    assert [measured(row) for row in rows] == folder.metrics.lines()


def test_runs_outside_the_plan_come_last_and_what_is_no_run_is_passed_over(study):
    started(study.runs, run_config("ep", seed=8), 1)
    (study.runs / "notes").mkdir()
    (study.runs / "notes" / "metrics.jsonl").write_text(json.dumps(metrics_line(0)) + "\n")
    (study.runs / "list.txt").write_text("not a run")
    assert [(row["rule"], row["epoch"]) for row in epochs(study)[-2:]] == [("ep", 0), ("ep", 1)]
    assert len(epochs(study)) == 24 + 1 + 2


# Runs, ladder, layers


def test_runs_with_their_state_result_and_origin(study, tmp_path):
    folder = write_study(tmp_path / "s", {"dfa": {2: {1: 0.5, 2: None}}}, version="9")
    finished_run, diverged = frame_of(load(folder), "runs").to_dict("records")
    assert (finished_run["state"], finished_run["accuracy"]) == ("finished", 0.5)
    assert (diverged["state"], diverged["diverged_epoch"]) == ("diverged", 1)
    assert math.isnan(diverged["accuracy"])
    assert {row["version"] for row in (finished_run, diverged)} == {"9"}
    assert Path(diverged["folder"]) == folder / "runs" / diverged["run"]


def test_the_ladder_seed_by_seed():
    study = load(EMBEDDED)
    frame = frame_of(study, "ladder")
    means = frame.groupby(["label", "k"])["accuracy"].mean()
    for label, rule in study.rules.items():
        for rung in rule.ladder:
            assert means[label, rung.k] == pytest.approx(rung.mean)
    accuracies = {run.identity: run.accuracy for run in study.runs}
    assert dict(zip(frame["run"], frame["accuracy"], strict=True)) == accuracies


def test_layers_as_the_audit_read_them():
    study = load(REPRODUCTION / "main-audit-d256-L4")
    frame = frame_of(study, "layers").set_index(["label", "seed", "layer"])
    for network in study.audit.networks:
        own, report = frame.loc[network.label, network.seed], network.report
        assert list(own["h_norm"]) == report.residual_norms
        assert list(own["g_norm"]) == report.bp_grad_norms
        assert list(own["alignment"]) == list(report.alignment.per_layer)
        assert list(own["lesion"])[1:] == list(report.lesion.per_layer)
        assert np.isnan(own["lesion"][0])
        assert own["rewind"].isna().all(), "recorded before there was a rewind"
        words = [layer.word for layer in report.null.per_layer] if report.null else []
        assert list(own["null"].dropna()) == words


def test_a_rewind_stands_at_the_layers_after_its_blocks():
    study = load(REPRODUCTION / "main-audit-d256-L4")
    first, *others = study.audit.networks
    lesion = first.report.lesion
    report = replace(first.report, rewind=replace(lesion, per_layer=(0.5, 0.25, 0.0, -0.125)))
    networks = (first.model_copy(update={"report": report}), *others)
    audited = study.with_audit(study.audit.model_copy(update={"networks": networks}))
    frame = frame_of(audited, "layers").set_index(["label", "seed", "layer"])
    own = frame.loc[first.label, first.seed]["rewind"]
    assert np.isnan(own[0])
    assert list(own)[1:] == [0.5, 0.25, 0.0, -0.125]


def test_layers_as_training_wrote_them_down(tmp_path):
    norms = {"h_norm": [2.0, 3.0, 30.0], "g_norm": [1.0, 0.5, 0.25]}
    folder = write_study(
        tmp_path / "s", {"dfa": {0: {1: 0.2}, 2: {1: 0.5}}}, readings={"dfa": norms}
    )
    frame = frame_of(load(folder), "layers")
    assert {name: list(frame[name]) for name in norms} == norms
    assert list(frame["layer"]) == [0, 1, 2]
    assert frame["alignment"].isna().all()


@pytest.mark.parametrize("name", ["ladder", "layers"])
def test_a_study_that_was_not_begun_has_every_column(tmp_path, name):
    folder = write_study(tmp_path / "study", {})
    put_plan(StudyFolder(folder), [run_config()], 0.5)
    begun, full = frame_of(load(folder), name), frame_of(load(EMBEDDED), name)
    assert (len(begun), list(begun.columns)) == (0, list(full.columns))


@pytest.mark.parametrize("name", ["runs", "epochs", "ladder", "layers"])
def test_every_table_of_an_empty_study_and_of_an_audit_alone(tmp_path, name):
    assert len(frame_of(load(write_study(tmp_path / "empty", {})), name)) == 0
    audit = load(write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.4)}}))
    assert bool(len(frame_of(audit, name))) == (name == "layers")


def test_a_table_that_is_not_there():
    with pytest.raises(UserError, match="use one of runs, epochs, ladder, layers"):
        frame_of(load(EMBEDDED), "words")


# Files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_has_what_the_table_has(study, tmp_path, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    write_epochs(load(study.path), tmp_path / "epochs", kind)
    expected = frame_of(load(study.path), "epochs")
    if kind == "csv":
        found = pd.read_csv(tmp_path / "epochs", dtype={"targets": str, "diverged": "boolean"})
    else:
        found = pd.read_parquet(tmp_path / "epochs")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


def test_runs_that_are_done_and_have_lost_epochs_are_named(study):
    assert runs_with_lost_epochs(load(study.path)) == []
    first, second, *_ = study.all_runs()
    first.metrics.rewind(1)
    second.result_path.unlink()
    second.metrics.rewind(1)
    assert runs_with_lost_epochs(load(study.path)) == [first.config.identity]
