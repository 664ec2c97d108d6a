"""The audit as tables."""

from __future__ import annotations

import pytest
from report.audits import (
    make_audit,
    make_diverged,
    make_diverged_entry,
    make_entry,
    make_row,
)
from report.tables import columns

from depthgauge.report.audit_table import (
    TABLES,
    layer_table,
    percent,
    rule_table,
    run_table,
    selection_table,
    training_table,
    utility_table,
)


def test_one_row_for_each_network():
    (row,) = columns(run_table(make_audit()))
    assert row == {
        "rule": "dfa",
        "seed": "42",
        "acc": "30.5",
        "‖h_L‖": "4.1e+08",
        "‖g_L‖": "5.1e-07",
        "stability": "0.457",
        "frozen": "34.9",
        "verdict": "walk back (D1, D2)",
    }


def test_the_epoch_at_which_a_diagnostic_first_fired():
    rows = [make_row(first_fired=f) for f in (None, {"D1": None, "D2": 1}, {"D1": 3})]
    never, unread = columns(training_table(make_audit(rows)))
    assert (never["D1 first fires"], never["D2 first fires"]) == ("–", "epoch 1")
    assert (unread["D1 first fires"], unread["D2 first fires"]) == ("epoch 3", "n/a")


def test_what_is_not_known_is_a_dash():
    rows = [
        make_row(stability=None, frozen_acc=None, first_fired=None, fired=[], verdict="none"),
        make_row(first_fired={"D1": None, "D2": 1}),
        make_diverged(),
    ]
    unknown, _, diverged = columns(run_table(make_audit(rows)))
    assert (unknown["stability"], unknown["frozen"]) == ("–", "–")
    assert unknown["verdict"] == "none"
    assert diverged["verdict"] == "diverged"
    for name in ("acc", "‖h_L‖", "‖g_L‖", "stability"):
        assert diverged[name] == "–"


def test_one_row_for_each_rule_with_the_spread_over_seeds():
    verdicts = {"dfa": make_entry(), "bp": make_entry(verdict_in_words="trustworthy")}
    dfa, bp = columns(rule_table(make_audit(verdicts=verdicts)))
    assert dfa == {
        "rule": "dfa",
        "acc": "30.5 ± 1.2",
        "frozen": "34.9",
        "verdict over seeds": "walk back (D1, D2)",
    }
    assert bp["verdict over seeds"] == "trustworthy"


def test_seeds_that_diverged_are_named():
    (row,) = columns(rule_table(make_audit(verdicts={"dfa": make_entry(diverged_seeds=[7, 8])})))
    assert row["verdict over seeds"] == "walk back (D1, D2); diverged: seed 7, 8"


def test_a_rule_that_always_diverged_has_no_accuracy():
    (row,) = columns(rule_table(make_audit(verdicts={"dfa": make_diverged_entry()})))
    assert row["acc"] == "–"
    assert row["verdict over seeds"].startswith("diverged")


def test_networks_without_blocks_have_an_accuracy_and_nothing_to_judge():
    shallow = {
        "dfa[shallow]": {"acc": {"mean": 0.3512, "std": 0.004, "n": 3}},
        "bp[shallow]": {"acc": {"mean": None, "std": None, "n": 0}},
    }
    _, dfa, bp = columns(rule_table(make_audit() | {"shallow": shallow}))
    assert dfa == {
        "rule": "dfa[shallow]",
        "acc": "35.1 ± 0.4",
        "frozen": "–",
        "verdict over seeds": "no blocks: nothing to judge",
    }
    assert (bp["rule"], bp["acc"]) == ("bp[shallow]", "–")


def test_every_setting_that_was_tried_with_the_chosen_one_marked():
    nothing = {"mean": None, "std": None}
    tried = {"dfa": {"mean": 0.31, "std": 0.012}, "dfa[x]": {"mean": 0.4, "std": None}}
    selection = {
        "dfa": {"chosen": "dfa[x]", "samples": 9, "candidates": tried | {"dfa[y]": nothing}},
        "bp": {"chosen": "bp", "samples": 9, "candidates": {"bp": {"mean": 0.6, "std": None}}},
    }
    table = selection_table(make_audit() | {"selection": selection})
    assert [list(row.values()) for row in columns(table)] == [
        ["dfa", "31.0 ± 1.2", ""],
        ["dfa[x]", "40.0", "yes"],
        ["dfa[y]", "–", ""],
        ["bp", "60.0", "yes"],
    ]
    assert selection_table in TABLES


def test_where_nothing_was_selected_the_table_is_empty():
    assert selection_table(make_audit())[1] == []


def test_every_way_of_reporting_with_what_it_walks_back():
    utility = {"accuracy": {"dfa": [0, 3], "bp": [0, 3]}, "all": {"dfa": [3, 3], "bp": [0, 0]}}
    verdicts = {"dfa": make_entry(), "bp": make_entry()}
    header, rows = utility_table(make_audit(verdicts=verdicts, utility=utility))
    assert header == ["what is reported", "dfa walked back", "bp walked back"]
    assert rows == [["accuracy", "0 of 3", "0 of 3"], ["all", "3 of 3", "–"]]


def test_alignment_layer_by_layer():
    rows = [make_row(), make_row("bp", null=None, gamma=[1.0, 1.0, 1.0]), make_diverged()]
    header, found = layer_table(make_audit(rows))
    assert header == ["Γ", "seed", "embed", "block 0", "block 1", "null, deep"]
    assert found == [
        ["dfa", "42", "+0.163", "-0.020", "–", "specific"],
        ["bp", "42", "+1.000", "+1.000", "+1.000", "n/a"],
    ]


def test_a_network_with_fewer_blocks_keeps_its_null_in_the_last_column():
    rows = [make_row("dfa[wide_block]", gamma=[0.1, 0.2]), make_row(gamma=[0.1, 0.2, 0.3, 0.4])]
    header, (short, full) = layer_table(make_audit(rows))
    assert len(header) == len(short) == len(full)
    assert short[-3:] == ["–", "–", "specific"]


@pytest.mark.parametrize("rows", [[], [make_row(gamma=None)], [make_diverged()]], ids=len)
def test_without_any_alignment_there_is_nothing_layer_by_layer(rows):
    assert layer_table(make_audit(rows))[1] == []


@pytest.mark.parametrize(
    ("share", "text"), [(None, "–"), (0.0, "0.0"), (0.30451, "30.5"), (1.0, "100.0")]
)
def test_shares_in_per_cent(share, text):
    assert percent(share) == text
