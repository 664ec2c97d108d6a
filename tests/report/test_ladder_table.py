"""The ladder as a table."""

from __future__ import annotations

from report.ladders import curve, make_ladder

from depthgauge.report.ladder_table import caption, ladder_rows


def test_one_row_for_each_rule_one_column_for_each_k():
    ladder = make_ladder({"dfa": curve(0.349, 0.244), "bp": curve(0.389, 0.565)})
    assert ladder_rows(ladder) == (
        ["rule", "k = 0", "k = 1"],
        [["dfa", "34.9", "24.4"], ["bp", "38.9", "56.5"]],
    )


def test_mean_and_sample_standard_deviation_in_per_cent():
    ladder = make_ladder({"bp": {0: [0.1, 0.2, 0.3]}})
    assert ladder_rows(ladder)[1] == [["bp", "20.0 ± 10.0"]]


def test_columns_are_sorted_as_numbers():
    ladder = make_ladder({"bp": {10: [0.5], 2: [0.4], 0: [0.3]}}, blocks=10)
    assert ladder_rows(ladder) == (
        ["rule", "k = 0", "k = 2", "k = 10"],
        [["bp", "30.0", "40.0", "50.0"]],
    )


def test_a_rung_that_was_not_trained_is_a_dash():
    ladder = make_ladder({"bp": {0: [0.3], 4: [0.6]}, "dfa": {2: [0.2]}})
    assert ladder_rows(ladder)[1] == [["bp", "30.0", "–", "60.0"], ["dfa", "–", "20.0", "–"]]


def test_diverged_runs_are_counted_beside_the_others():
    ladder = make_ladder({"x": {0: [0.2, None, 0.4], 1: [None, None], 2: [None]}})
    (row,) = ladder_rows(ladder)[1]
    assert row == ["x", "30.0 ± 14.1 (1 diverged)", "diverged", "diverged"]


def test_an_accuracy_of_zero_is_shown():
    assert ladder_rows(make_ladder({"x": {0: [0.0]}}))[1] == [["x", "0.0"]]


def test_the_caption_says_what_was_measured():
    text = caption(make_ladder({"bp": {0: [0.2, 0.3]}, "fa": {1: [0.2, 0.3, 0.4]}}))
    for part in ("digits", "test", "4 blocks", "width 32", "7 epochs", "seeds 1, 2, 3", "12.5"):
        assert part in text
    assert "\n" not in text


def test_nothing_finished_is_an_empty_table():
    ladder = make_ladder({})
    assert ladder_rows(ladder) == (["rule"], [])
    assert "none" in caption(ladder)
