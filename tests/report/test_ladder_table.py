"""The ladder as a table."""

from __future__ import annotations

from report.studies import curve, make_floors, make_ladder, trained_study

from depthgauge.report.ladder_table import caption, ladder_rows, rows_with_curves
from depthgauge.report.sparkline import BLOCKS, DIGITS


def test_one_row_for_each_rule_one_column_for_each_k():
    ladder = make_ladder({"dfa": curve(0.349, 0.244), "bp": curve(0.389, 0.565)})
    assert ladder_rows(ladder) == (
        ["rule", "k = 0", "k = 1", "used depth"],
        [["dfa", "34.9", "24.4", "–"], ["bp", "38.9", "56.5", "–"]],
    )


def test_mean_and_sample_standard_deviation_in_per_cent():
    ladder = make_ladder({"bp": {0: [0.1, 0.2, 0.3]}})
    assert ladder_rows(ladder)[1] == [["bp", "20.0 ± 10.0", "–"]]


def test_columns_are_sorted_as_numbers():
    ladder = make_ladder({"bp": {10: [0.5], 2: [0.4], 0: [0.3]}}, blocks=10)
    assert ladder_rows(ladder) == (
        ["rule", "k = 0", "k = 2", "k = 10", "used depth"],
        [["bp", "30.0", "40.0", "50.0", "–"]],
    )


def test_a_rung_that_was_not_trained_is_a_dash():
    ladder = make_ladder({"bp": {0: [0.3], 4: [0.6]}, "dfa": {2: [0.2]}})
    assert ladder_rows(ladder)[1] == [
        ["bp", "30.0", "–", "60.0", "–"],
        ["dfa", "–", "20.0", "–", "–"],
    ]


def test_diverged_runs_are_counted_beside_the_others():
    ladder = make_ladder({"x": {0: [0.2, None, 0.4], 1: [None, None], 2: [None]}})
    (row,) = ladder_rows(ladder)[1]
    assert row == ["x", "30.0 ± 14.1 (1 diverged)", "diverged", "diverged", "–"]


def test_below_a_rule_stand_its_swap_twins():
    """What a block earns is what its rung has more than the row below."""
    climb = {0: [0.3], 1: [0.5], 2: [0.7]}
    ladder = make_ladder({"bp": climb, "fa": curve(0.3, 0.3, 0.3)}, twins={"bp": {2: [0.52]}})
    assert ladder_rows(ladder)[1] == [
        ["bp", "30.0", "50.0", "70.0", "–"],
        ["bp, added on noise", "–", "–", "52.0", ""],
        ["fa", "30.0", "30.0", "30.0", "–"],
    ]


def test_a_swap_twin_that_diverged_is_said_to_have():
    ladder = make_ladder({"bp": curve(0.3, 0.5)}, twins={"bp": {1: [None]}})
    assert ladder_rows(ladder)[1][1] == ["bp, added on noise", "–", "diverged", ""]


def test_how_many_blocks_a_rule_trains_is_the_last_column():
    """From the runs of a study: both blocks of bp earn, and dfa loses by training its own."""
    header, (bp, twins, dfa) = ladder_rows(trained_study().ladder())
    assert header == ["rule", "k = 0", "k = 1", "k = 2", "used depth"]
    assert (bp[0], bp[-1]) == ("bp", "2 of 2")
    assert twins == ["bp, added on noise", "–", "33.7 ± 0.6", "56.1 ± 0.2", ""]
    assert (dfa[0], dfa[-1]) == ("dfa", "0 of 2")


def test_an_accuracy_of_zero_is_shown():
    assert ladder_rows(make_ladder({"x": {0: [0.0]}}))[1] == [["x", "0.0", "–"]]


def test_the_caption_says_what_was_measured():
    text = caption(make_ladder({"bp": {0: [0.2, 0.3]}, "fa": {1: [0.2, 0.3, 0.4]}}))
    for part in ("digits", "test", "4 blocks", "width 32", "7 epochs", "seeds 1, 2, 3", "12.5"):
        assert part in text
    assert "\n" not in text


def test_nothing_finished_is_an_empty_table():
    ladder = make_ladder({})
    assert ladder_rows(ladder) == (["rule", "used depth"], [])
    assert "none" in caption(ladder)


# With curves


def test_each_rule_has_its_curve_beside_its_name_on_one_scale():
    ladder = make_ladder({"dfa": curve(0.25, 0.26, 0.25), "bp": curve(0.25, 0.5, 0.75)})
    assert rows_with_curves(ladder, BLOCKS) == (
        ["rule", "ladder", "k = 0", "k = 1", "k = 2", "used depth"],
        [
            ["dfa", "▁▁▁", "25.0", "26.0", "25.0", "–"],
            ["bp", "▁▄█", "25.0", "50.0", "75.0", "–"],
        ],
    )


def test_swap_twins_have_no_curve_of_their_own():
    ladder = make_ladder({"bp": curve(0.25, 0.5, 0.75)}, twins={"bp": {1: [0.3], 2: [0.5]}})
    bp, twins = rows_with_curves(ladder, BLOCKS)[1]
    assert bp[:2] == ["bp", "▁▄█"]
    assert twins == ["bp, added on noise", "", "–", "30.0", "50.0", ""]


def test_a_curve_is_of_the_means():
    ladder = make_ladder({"bp": {0: [0.0, 0.2], 1: [0.3, 0.5], 2: [1.0, 1.2]}})
    ((_, line, *_),) = rows_with_curves(ladder, DIGITS)[1]
    assert line == "027"


def test_rungs_that_are_missing_or_have_diverged_are_missing_in_the_curve():
    ladder = make_ladder({"bp": {0: [0.2], 10: [0.9]}, "fa": {2: [0.2], 10: [None]}}, blocks=10)
    header, rows = rows_with_curves(ladder, DIGITS)
    assert header[2:] == ["k = 0", "k = 2", "k = 10", "used depth"]
    assert [row[1] for row in rows] == ["0.7", ".0."]


def test_one_rung_alone_and_none_at_all_have_no_curve():
    for ladder in (make_ladder({"bp": {0: [0.3]}, "fa": {0: [0.2]}}), make_ladder({})):
        assert rows_with_curves(ladder, BLOCKS) == ladder_rows(ladder)


def test_the_linear_floor_is_the_last_row_and_has_no_curve():
    ladder = make_ladder({"dfa": curve(0.349, 0.244)})
    ladder = ladder.model_copy(update={"floors": make_floors()})
    assert ladder_rows(ladder)[1][-1] == ["linear classifier", "55.0", "–", ""]
    drawn = rows_with_curves(ladder, BLOCKS)[1][-1]
    assert drawn == ["linear classifier", "", "55.0", "–", ""]
    missing = ladder.model_copy(update={"floors": make_floors(linear=None)})
    assert [row[0] for row in ladder_rows(missing)[1]] == ["dfa"]
