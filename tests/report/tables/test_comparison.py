"""Several studies as tables."""

from __future__ import annotations

import pytest
from report.study_folders import BP, SIX_EPOCHS, write_audit, write_climbing_study
from report.table_rows import columns
from results.written_studies import compared, write_study

from depthgauge.report.tables.comparison import (
    against_table,
    by_first_column,
    rule_table,
    same_rule_table,
)
from depthgauge.report.tables.table import make_table, words

BETTER = {0: {1: 0.30, 2: 0.30}, 1: {1: 0.42, 2: 0.41}, 2: {1: 0.70, 2: 0.75}}


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Look, do not touch."""
    return write_study(tmp_path_factory.mktemp("one") / "short", {"bp": BP})


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """Look, do not touch."""
    return write_study(tmp_path_factory.mktemp("two") / "long", {"bp": BETTER}, recipe=SIX_EPOCHS)


def test_a_row_for_each_rule_of_each_study(short, longer):
    first, second = columns(rule_table(compared(short, longer)))
    assert (first["study"], first["rule"], first["n"]) == ("short", "bp", "2")
    assert (first["accuracy"], first["frozen"], first["gain"]) == ("62.0 ± 2.8", "30.0", "+32.0")
    assert first["used depth"] == "too few seeds"
    assert first["verdict"] == "no alarm, depth untested (D3 open), by metrics of training"
    assert (second["study"], second["accuracy"]) == ("long", "72.5 ± 3.5")


def test_a_verdict_of_an_audit_stands_for_itself(short, tmp_path):
    audit = write_audit(tmp_path / "audit", {"bp": {1: (0.5, 0.3)}})
    row = columns(rule_table(compared(short, audit)))[1]
    assert (row["accuracy"], row["verdict"]) == ("50.0", "no alarm, depth untested (single seed)")
    assert row["used depth"] == "–"


def test_a_rule_that_is_shown_to_use_its_depth_is_trustworthy_here_too(short, tmp_path):
    climbing = write_climbing_study(tmp_path / "climbing")
    row = columns(rule_table(compared(short, climbing)))[1]
    assert (row["n"], row["accuracy"]) == ("3", "70.1 ± 0.1")
    assert row["verdict"] == "trustworthy, by metrics of training"


def test_swap_twins_are_not_compared_as_rungs(tmp_path):
    """Their accuracies are below those of the rung whose k they share."""
    first, other = (write_climbing_study(tmp_path / name) for name in ("first", "other"))
    rows = columns(same_rule_table(compared(first, other)))
    assert {row["of"]: row["change"] for row in rows if row["rule"] == "bp"} == {
        **dict.fromkeys(("accuracy", "frozen", "gain", "k = 1"), "0")
    }


def test_seeds_that_diverged_are_named(short, tmp_path):
    lost = write_study(tmp_path / "lost", {"dfa": {2: {1: 0.5, 2: None, 3: None}}})
    assert columns(rule_table(compared(short, lost)))[1]["verdict"].endswith("diverged: seed 2, 3")


def test_changes_with_their_intervals(short, longer):
    rows = {row["of"]: row for row in columns(same_rule_table(compared(short, longer)))}
    accuracy = rows["accuracy"]
    assert (accuracy["studies"], accuracy["rule"]) == ("short → long", "bp")
    assert (accuracy["n"], accuracy["change"]) == ("2", "+10.50")
    assert accuracy["95 % interval"] == "[+4.15, +16.85]"
    assert accuracy["reading"] == "excludes zero"
    assert rows["k = 1"]["reading"] == "includes zero"
    assert (rows["frozen"]["change"], rows["frozen"]["reading"]) == ("0", "identical")


def test_an_interval_of_more_than_100_points_is_too_few_seeds(short, tmp_path):
    apart = {0: {1: 0.30, 2: 0.30}, 1: {1: 0.42, 2: 0.41}, 2: {1: 0.20, 2: 0.90}}
    other = write_study(tmp_path / "other", {"bp": apart}, recipe=SIX_EPOCHS)
    rows = {row["of"]: row for row in columns(same_rule_table(compared(short, other)))}
    assert rows["accuracy"]["95 % interval"] == "[too few seeds]"
    assert rows["accuracy"]["reading"] == "includes zero"


def test_rungs_that_are_the_full_run_or_the_frozen_one_are_not_repeated(short, longer):
    rows = columns(same_rule_table(compared(short, longer)))
    assert [row["of"] for row in rows] == ["accuracy", "frozen", "gain", "k = 1"]


@pytest.mark.parametrize(
    ("seeds", "change", "reading"),
    [({1: 0.5}, "−10.00", "single seed"), ({7: 0.5, 8: 0.6}, "62.0 → 55.0", "no common seed")],
)
def test_fewer_than_two_common_seeds_have_no_interval(short, tmp_path, seeds, change, reading):
    other = write_study(tmp_path / "other", {"bp": {2: seeds}})
    (row,) = columns(same_rule_table(compared(short, other)))
    assert (row["change"], row["95 % interval"], row["reading"]) == (change, "–", reading)


def test_each_rule_against_the_reference(short, tmp_path):
    other = write_study(tmp_path / "other", {"dfa": BETTER})
    rows = columns(against_table(compared(short, other)))
    assert {row["study"] for row in rows} == {"other, against bp of short"}
    assert (rows[0]["rule"], rows[0]["of"], rows[0]["change"]) == ("dfa", "accuracy", "+10.50")


def test_one_table_for_each_value_of_the_first_column():
    rows = [["a", "bp", "x"], ["a", "bp", "y"], ["b", "bp", "x"], ["a", "fa", "x"]]
    parts = by_first_column(make_table("t", "", words("study", "rule", "of"), rows))
    assert {name: part.texts for name, part in parts.items()} == {
        "a": [["bp", "x"], ["", "y"], ["fa", "x"]],
        "b": [["bp", "x"]],
    }
    assert parts["a"].titles == ["rule", "of"]
