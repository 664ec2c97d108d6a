"""One row for each run."""

from __future__ import annotations

import pytest
from report.studies import make_run, make_study, trained_study
from report.study_folders import GOOD, write_whole_study
from report.table_rows import cells, columns
from results.written_studies import write_study
from store.small_runs_on_disk import run_config, started

from depthgauge.report.tables.runs import PAPER, run_table
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.store.study_folder import StudyFolder


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> StudyResult:
    folder = tmp_path_factory.mktemp("tables") / "study"
    return load(write_whole_study(folder, version="1.0", commit="c0ffee77", wall_seconds=61.5))


def test_the_runs_say_which_blocks_are_on_noise():
    rows = cells(run_table(trained_study()))
    assert {row["k"].text for row in rows if row["rule"].text == "bp"} == {
        *("0", "1", "2", "1 (block 1 on noise)", "2 (block 0 on noise)")
    }
    assert {row["k"].order for row in rows} == {0, 1, 2}


def test_every_run_has_a_row(whole):
    table = run_table(whole)
    assert [row[0].run for row in table.rows] == [run.identity for run in whole.runs]
    by_place = {(row["rule"], row["k"], row["seed"]): row for row in columns(table)}
    done, lost = by_place["bp", "2", "1"], by_place["dfa", "2", "2"]
    assert (done["state"], done["epochs"], done["accuracy"]) == ("finished", "3 of 3", "60.0")
    assert (done["growth"], done["‖g_L‖"], done["cohort time"]) == ("1.5", "0.125", "62 s")
    assert done["commit"] == "c0ffee7"
    assert (done["D1 fired"], done["D2 fired"]) == ("never", "never")
    assert (lost["state"], lost["accuracy"], lost["growth"]) == ("diverged", "–", "∞")
    assert lost["D1 fired"] == "epoch 0"
    failed, never = by_place["dfa", "1", "1"], by_place["dfa", "1", "2"]
    assert (failed["state"], failed["epochs"]) == ("failed", "1 of 3")
    assert failed["accuracy"] == "50.0 so far"
    assert (failed["D2 fired"], failed["cohort time"], failed["commit"]) == ("n/a", "–", "–")
    assert (never["state"], never["epochs"], never["growth"]) == ("waiting", "0 of 3", "–")


def test_on_paper_every_run_is_listed_whatever_has_become_of_it():
    states = ("finished", "diverged", "failed", "running", "stopped", "waiting")
    runs = [make_run(seed=seed, state=state) for seed, state in enumerate(states)]
    rows = columns(run_table(make_study(*runs)).only(*PAPER))
    assert [row["state"] for row in rows] == list(states)
    assert [row["accuracy"] for row in rows] == ["50.0", "–", "–", "–", "–", "–"]
    assert [row["run"] for row in rows] == [run.identity for run in runs]


def test_what_sorts_a_number_is_the_number(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": GOOD}, wall_seconds=7.25)
    started(StudyFolder(folder).runs, run_config("bp", 2, 10), 1)
    *done, last = cells(run_table(load(folder)))
    assert [last[name].order for name in ("k", "seed", "cohort time")] == [2, 10, None]
    for row in done:
        assert row["accuracy"].text == f"{100 * row['accuracy'].order:.1f}"
        assert row["cohort time"].order == 7.25


def test_what_has_no_bound_is_sorted_as_the_script_sorts_numbers(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {2: {1: None}}})
    table = run_table(load(folder))
    (row,) = cells(table)
    assert (row["growth"].text, row["growth"].order) == ("∞", "Infinity")
    assert table.columns[table.titles.index("growth")].is_number


def test_epochs_are_counted_by_the_last_one_also_where_others_are_lost(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {2: {1: 0.5}}})
    (path,) = folder.glob("runs/*/metrics.jsonl")
    path.unlink()
    (row,) = columns(run_table(load(folder)))
    assert row["epochs"] == "3 of 3"


def test_a_time_of_none_and_a_reading_of_zero_are_told_apart(tmp_path):
    zero = {"bp": {"h_norm": [0.0, 0.0, 0.0], "g_norm": [0.0, 0.0, 0.0], "g_over_e": 0.0}}
    folder = write_study(tmp_path / "s", {"bp": {2: {1: 0.0}}}, readings=zero)
    (row,) = cells(run_table(load(folder)))
    found = {row[name].text: row[name].order for name in ("accuracy", "growth", "‖g_L‖")}
    assert found == {"0.0": 0.0, "0": 0.0}
