"""The ladder as a table."""

from __future__ import annotations

from report.studies import make_floors, make_run, make_rungs, make_study, trained_study
from report.table_rows import columns

from depthgauge.report.sparkline import BLOCKS, DIGITS
from depthgauge.report.tables.ladder import ladder_table, with_curves
from depthgauge.report.tables.table import Table
from depthgauge.results.study import StudyResult


def ladders(blocks: int = 2, **rules) -> StudyResult:
    """A study of `rule={k: accuracies of seeds 1, 2, …}`; None is a run that diverged."""
    runs = [
        run for label, rungs in rules.items() for run in make_rungs(label, rungs, blocks=blocks)
    ]
    return make_study(*runs)


def texts(study: StudyResult) -> list[list[str]]:
    return ladder_table(study).texts


def test_one_row_for_each_rule_one_column_for_each_k():
    table = ladder_table(ladders(dfa={0: [0.349], 1: [0.244]}, bp={0: [0.389], 1: [0.565]}))
    assert table.titles == ["rule", "k = 0", "k = 1", "used depth"]
    assert [row[:3] for row in table.texts] == [["dfa", "34.9", "24.4"], ["bp", "38.9", "56.5"]]
    assert [column.is_number for column in table.columns] == [False, True, True, True]


def test_mean_and_sample_standard_deviation_in_per_cent():
    ((_, accuracy, _),) = texts(ladders(bp={0: [0.1, 0.2, 0.3]}))
    assert accuracy == "20.0 ± 10.0"


def test_columns_are_sorted_as_numbers():
    study = ladders(10, bp={10: [0.5], 2: [0.4], 0: [0.3]})
    assert ladder_table(study).titles[1:4] == ["k = 0", "k = 2", "k = 10"]


def test_a_rung_that_was_not_trained_is_a_dash():
    rows = texts(ladders(4, bp={0: [0.3], 4: [0.6]}, dfa={2: [0.2]}))
    assert [row[:4] for row in rows] == [["bp", "30.0", "–", "60.0"], ["dfa", "–", "20.0", "–"]]


def test_lost_runs_and_missing_seeds_are_counted():
    (row,) = texts(ladders(x={0: [0.2, None, 0.4], 1: [None, None], 2: [None]}))
    assert row[1:4] == ["30.0 ± 14.1 (n = 2, 1 lost)", "– (2 lost)", "– (1 lost)"]


def test_a_rule_of_which_only_failed_runs_are_known_has_its_row_and_one_that_waits_has_none():
    runs = [
        make_run("fa", 1, k=1, state="failed", reason="out of memory"),
        make_run("ep", 1, k=1, state="waiting"),
    ]
    assert texts(make_study(*runs)) == [["fa", "– (1 lost)", "–"]]


def test_below_a_rule_stand_its_swap_twins_each_with_its_run():
    """What a block earns is what its rung has more than the row below."""
    study = trained_study()
    runs = {run.identity: run.config for run in study.runs}
    table = ladder_table(study)
    bp, twins, dfa = columns(table)
    assert table.titles == ["rule", "k = 0", "k = 1", "k = 2", "used depth"]
    assert (bp["rule"], bp["used depth"]) == ("bp", "2 of 2")
    assert list(twins.values()) == ["bp, added on noise", "–", "33.7 ± 0.6", "56.1 ± 0.2", ""]
    assert (dfa["rule"], dfa["used depth"]) == ("dfa", "0 of 2")
    assert [runs[cell.run].rung for cell in table.rows[1][2:4]] == [
        "1 (block 1 on noise)",
        "2 (block 0 on noise)",
    ]


def test_each_mean_leads_to_its_runs():
    for row in ladder_table(ladders(bp={0: [0.3], 1: [0.5]})).rows:
        assert row[0].runs == {"rule": "bp"}
        assert [cell.runs for cell in row[1:3]] == [
            {"rule": "bp", "k": "0"},
            {"rule": "bp", "k": "1"},
        ]


def test_an_accuracy_of_zero_is_shown():
    assert texts(ladders(x={0: [0.0]}))[0][1] == "0.0"


def test_the_caption_says_what_was_measured():
    caption = ladder_table(ladders(bp={0: [0.2, 0.3]}, fa={1: [0.2, 0.3, 0.4]})).caption
    for part in ("digits", "test", "2 blocks", "width 8", "2 epochs", "seeds 1, 2, 3", "12.5"):
        assert part in caption
    assert "\n" not in caption


def test_nothing_finished_is_an_empty_table():
    table = ladder_table(make_study())
    assert (table.titles, table.rows) == (["rule", "used depth"], ())
    assert "seeds none" in table.caption


# With curves


def drawn(study: StudyResult, signs=BLOCKS) -> Table:
    return with_curves(ladder_table(study), study, signs)


def test_each_rule_has_its_curve_beside_its_name_on_one_scale():
    rising = {k: [accuracy] for k, accuracy in enumerate((0.25, 0.5, 0.75))}
    flat = {k: [accuracy] for k, accuracy in enumerate((0.25, 0.26, 0.25))}
    table = drawn(ladders(dfa=flat, bp=rising))
    assert table.titles[:3] == ["rule", "ladder", "k = 0"]
    assert [row[:2] for row in table.texts] == [["dfa", "▁▁▁"], ["bp", "▁▄█"]]


def test_swap_twins_have_no_curve_of_their_own():
    assert drawn(trained_study()).texts[1][:3] == ["bp, added on noise", "", "–"]


def test_a_curve_is_of_the_means():
    ((_, curve, *_),) = drawn(
        ladders(bp={0: [0.0, 0.2], 1: [0.3, 0.5], 2: [0.9, 1.0]}), DIGITS
    ).texts
    assert curve == "027"


def test_rungs_that_are_missing_or_have_diverged_are_missing_in_the_curve():
    table = drawn(ladders(10, bp={0: [0.2], 10: [0.9]}, fa={2: [0.2], 10: [None]}), DIGITS)
    assert [row[1] for row in table.texts] == ["0.7", ".0."]


def test_one_rung_alone_and_none_at_all_have_no_curve():
    for study in (ladders(bp={0: [0.3]}, fa={0: [0.2]}), make_study()):
        assert drawn(study) == ladder_table(study)


def test_the_linear_floor_is_the_last_row_and_has_no_curve():
    runs = make_rungs("dfa", {0: [0.349], 1: [0.244]})
    floor = make_floors().linear
    study = make_study(*runs, linear_floor=floor)
    assert texts(study)[-1] == ["linear classifier", "55.0", "–", ""]
    assert drawn(study).texts[-1] == ["linear classifier", "", "55.0", "–", ""]
    missing = make_study(*runs, linear_floor=make_floors(linear=None).linear)
    assert [row[0] for row in texts(missing)] == ["dfa"]
