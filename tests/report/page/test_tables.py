"""The tables of the page: every number with the run that it came from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report.studies import make_floors, trained_study
from report.study_folders import GOOD, write_whole_study
from results.written_studies import put_plan, write_study
from store.small_runs_on_disk import run_config, started

from depthgauge.report.page.tables import (
    PageTable,
    ladder_table,
    network_table,
    plain_table,
    runs_table,
    utility_rows,
)
from depthgauge.results.load import load
from depthgauge.results.study import StudyResult
from depthgauge.store.study_folder import StudyFolder


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> StudyResult:
    folder = tmp_path_factory.mktemp("tables") / "study"
    return load(write_whole_study(folder, version="1.0", commit="c0ffee77", wall_seconds=61.5))


def texts(table: PageTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def by_first(table: PageTable) -> dict[str, list[str]]:
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


# The ladder


def test_accuracy_by_rule_and_k(whole):
    table = ladder_table(whole.rules.values())
    assert list(table.header) == ["rule", "k = 0", "k = 1", "k = 2"]
    assert by_first(table) == {
        "bp": ["30.0 ± 0.0", "40.0 ± 0.0", "61.0 ± 1.4"],
        "dfa": ["30.5 ± 0.7", "– (1 lost)", "25.0 (1 lost)"],
        "dfa[shallow]": ["20.0", "–", "–"],
    }
    assert table.numeric == [False, True, True, True]


def test_each_mean_leads_to_its_runs(whole):
    for row in ladder_table(whole.rules.values()).rows:
        method = row[0].text
        assert row[0].runs == {"rule": method}
        for k, cell in enumerate(row[1:]):
            own = [r for r in whole.runs if (r.label, r.config.k) == (method, k)]
            leads = {"rule": method, "k": str(k)}
            assert cell.runs == (leads if own else None)


def test_below_a_rule_stand_its_swap_twins_each_with_its_run():
    study = trained_study()
    runs = {run.identity: run.config for run in study.runs}
    bp, twins, dfa = ladder_table(study.rules.values()).rows
    assert [cell.text for cell in twins] == [
        *("bp, added on noise", "–", "33.7 ± 0.6", "56.1 ± 0.2")
    ]
    assert (bp[0].text, dfa[0].text) == ("bp", "dfa")
    assert [runs[cell.run].rung for cell in twins[2:]] == [
        "1 (block 1 on noise)",
        "2 (block 0 on noise)",
    ]


def test_the_runs_say_which_blocks_are_on_noise():
    table = runs_table(trained_study())
    assert {row[2].text for row in table.rows if row[1].text == "bp"} == {
        *("0", "1", "2", "1 (block 1 on noise)", "2 (block 0 on noise)")
    }
    assert {row[2].order for row in table.rows} == {0, 1, 2}


def test_a_study_of_which_nothing_is_done_has_no_numbers(tmp_path):
    folder = write_study(tmp_path / "s", {})
    put_plan(StudyFolder(folder), [run_config("dfa", 2, 1)], 0.5)
    views = load(folder).rules.values()
    assert texts(ladder_table(views)) == [["dfa", "–"]]
    assert network_table(views).rows == []
    assert utility_rows(load(folder)) is None


# The networks


def test_what_was_read_of_each_network(whole):
    table = network_table(whole.rules.values())
    rows = {(row[0], row[1]): dict(zip(table.header, row, strict=True)) for row in texts(table)}
    assert list(rows) == [("bp", "1"), ("bp", "2"), ("dfa", "1"), ("dfa", "2")]
    one, diverged = rows["dfa", "1"], rows["dfa", "2"]
    read = ("accuracy, %", "frozen, %", "gain, points (D3)", "growth (D1)")
    assert [one[name] for name in read] == ["25.0", "30.0", "−5.0", "900"]
    assert (one["D1 first fired"], one["D2 first fired"]) == ("never", "epoch 3")
    assert (diverged["accuracy, %"], diverged["growth (D1)"]) == ("diverged", "–")
    runs = {run.identity: run for run in whole.runs}
    for row in table.rows:
        method, seed = row[0].text, int(row[1].text)
        for name, cell in zip(table.header[2:], row[2:], strict=True):
            run = runs[cell.run]
            k = 0 if name == "frozen, %" else 2
            assert (run.label, run.config.seed, run.config.k) == (method, seed, k)


def test_one_that_is_not_the_studys_own_leads_nowhere(whole):
    views = whole.rules.values()
    without = network_table(replace(whole, runs=()).rules.values())
    assert {cell.run for row in without.rows for cell in row} == {None}
    assert texts(without) == texts(network_table(views))


# The runs


def test_every_run_has_a_row(whole):
    table = runs_table(whole)
    assert [row[0].run for row in table.rows] == [run.identity for run in whole.runs]
    rows = [dict(zip(table.header, row, strict=True)) for row in texts(table)]
    by_place = {(row["rule"], row["k"], row["seed"]): row for row in rows}
    done, lost = by_place["bp", "2", "1"], by_place["dfa", "2", "2"]
    assert (done["state"], done["epochs"], done["accuracy, %"]) == ("finished", "3 of 3", "60.0")
    assert (done["growth"], done["‖g_L‖"], done["cohort time"]) == ("1.5", "0.125", "62 s")
    assert done["commit"].startswith("c0ffee7")
    assert (done["D1 fired"], done["D2 fired"]) == ("never", "never")
    assert (lost["state"], lost["accuracy, %"], lost["growth"]) == ("diverged", "–", "∞")
    assert lost["D1 fired"] == "epoch 0"
    failed, never = by_place["dfa", "1", "1"], by_place["dfa", "1", "2"]
    assert (failed["state"], failed["epochs"]) == ("failed", "1 of 3")
    assert failed["accuracy, %"] == "50.0 so far"
    assert (failed["D2 fired"], failed["cohort time"], failed["commit"]) == ("n/a", "–", "–")
    assert (never["state"], never["epochs"], never["growth"]) == ("waiting", "0 of 3", "–")


def test_what_sorts_a_number_is_the_number(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": GOOD}, wall_seconds=7.25)
    started(StudyFolder(folder).runs, run_config("bp", 2, 10), 1)
    table = runs_table(load(folder))
    column = {name: index for index, name in enumerate(table.header)}
    last = table.rows[-1]
    assert [last[column[name]].order for name in ("k", "seed", "cohort time")] == [2, 10, None]
    for row in table.rows[:-1]:
        shown = row[column["accuracy, %"]]
        assert shown.text == f"{100 * shown.order:.1f}"
        assert row[column["cohort time"]].order == 7.25


def test_what_has_no_bound_is_sorted_as_the_script_sorts_numbers(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {2: {1: None}}})
    table = runs_table(load(folder))
    (row,) = table.rows
    growth = table.header.index("growth")
    assert (row[growth].text, row[growth].order) == ("∞", "Infinity")
    assert table.numeric[growth]


def test_epochs_are_counted_by_the_last_one_also_where_others_are_lost(tmp_path):
    folder = write_study(tmp_path / "s", {"bp": {2: {1: 0.5}}})
    (path,) = folder.glob("runs/*/metrics.jsonl")
    path.unlink()
    (row,) = runs_table(load(folder)).rows
    assert row[5].text == "3 of 3"


def test_a_time_of_none_and_a_reading_of_zero_are_told_apart(tmp_path):
    zero = {"bp": {"h_norm": [0.0, 0.0, 0.0], "g_norm": [0.0, 0.0, 0.0], "g_over_e": 0.0}}
    folder = write_study(tmp_path / "s", {"bp": {2: {1: 0.0}}}, readings=zero)
    (row,) = runs_table(load(folder)).rows
    found = {cell.text: cell.order for cell in row[6:9]}
    assert found == {"0.0": 0.0, "0": 0.0}


# Others


def test_how_many_runs_each_way_of_reporting_walks_back(whole):
    table = utility_rows(whole)
    assert table is not None
    assert table.header[0] == "what is reported"
    assert [row[0].text for row in table.rows] == list(whole.audit.decision_utility)
    for row in table.rows:
        counts = whole.audit.decision_utility[row[0].text]
        shown = dict(zip(table.header[1:], (cell.text for cell in row[1:]), strict=True))
        for method, (back, of) in counts.items():
            assert shown[f"{method} walked back"] == (f"{back} of {of}" if of else "–")


def test_columns_of_numbers_are_known():
    rows = [
        ["dfa", "1.5", "–", "never", "[1, 2]", "−4.0 [−5, ∞]", "n/a", "2nd", ""],
        ["3x", "+2", "0", "epoch 3", "∞", "± 1", "diverged", "two", "1"],
    ]
    table = plain_table(list("abcdefghi"), rows)
    assert table.numeric == [False, True, True, True, True, True, True, False, True]
    assert plain_table(["a", "b"], []).numeric == [True, True]


def test_the_linear_floor_is_the_last_row_of_the_ladder():
    study = trained_study()
    table = ladder_table(study.rules.values(), make_floors())
    assert [cell.text for cell in table.rows[-1]] == ["linear classifier", "55.0", "–", "–"]
    assert len(table.rows) == len(study.rules) + len(["the twins of bp", "the floor"])
