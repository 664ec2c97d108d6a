"""Measured beside published, as tables and in words."""

from __future__ import annotations

from report.table_rows import columns

from depthgauge.published.compare import (
    FigureComparison,
    PublishedComparison,
    ReadingComparison,
    VerdictComparison,
    compare_figure,
)
from depthgauge.report.tables.published import figure_table, published_tables
from depthgauge.report.texts.published import published_sentences

INSIDE = compare_figure("bp k=4", [0.617], [0.617, 0.002])
OUTSIDE = compare_figure("fa k=0", [0.9], [0.355, 0.003])


def of_ladder(*rungs: FigureComparison, unlike: tuple[str, ...] = ()) -> PublishedComparison:
    return PublishedComparison("memo-ladder", unlike, {"rungs": rungs})


def figures(compared: list[FigureComparison]) -> list[list[str]]:
    return figure_table("rungs", compared).texts


def test_a_row_inside():
    (row,) = figures([compare_figure("bp k=4", [0.61, 0.62, 0.63], [0.617, 0.002])])
    assert row[:5] == ["bp k=4", "62.0 ± 1.0", "3", "61.7 ± 0.2", "+0.3"]
    assert row[5].startswith("± 1.")
    assert row[6] == "inside"


def test_a_row_outside_catches_the_eye():
    (row,) = figures([compare_figure("bp k=4", [0.5], [0.617, 0.002])])
    assert row == ["bp k=4", "50.0", "1", "61.7 ± 0.2", "−11.7", "± 1.0", "OUTSIDE"]


def test_a_row_that_was_not_measured_alike():
    (row,) = figures([compare_figure("bp k=4", [0.5], [0.617, 0.002], alike=False)])
    assert row[5:] == ["–", "not alike"]


def test_words_count_what_is_inside_and_name_what_is_not():
    assert published_sentences(of_ladder(INSIDE, INSIDE)) == [
        "2 of 2 rungs lie inside their interval."
    ]
    assert published_sentences(of_ladder(INSIDE, OUTSIDE)) == [
        "1 of 2 rungs lie inside their interval.",
        "Outside: fa k=0.",
    ]


def test_words_when_the_recipe_differs():
    (words,) = published_sentences(of_ladder(INSIDE, unlike=("epochs 30 instead of 100",)))
    assert "epochs 30 instead of 100" in words
    assert "inside" not in words


def test_one_table_for_each_part_with_its_own_title():
    comparison = PublishedComparison(
        "thirty-epochs",
        (),
        {"accuracies": [INSIDE], "deep_alignment": [OUTSIDE], "deep_perturbation": []},
        one_seed=[ReadingComparison("state_bridge: accuracy", (0.2134,), (0.213,))],
        verdicts=[VerdictComparison("bp", "trustworthy", None)],
    )
    verdicts, accuracy, gamma, one_seed = published_tables(comparison)
    assert columns(verdicts) == [
        {"verdict": "bp", "measured": "trustworthy", "published": "not published"}
    ]
    assert [row["accuracy, %"] for row in columns(accuracy)] == ["bp k=4"]
    assert [row["deep Γ, as published, %"] for row in columns(gamma)] == ["fa k=0"]
    assert columns(one_seed) == [
        {"seed 42": "state_bridge: accuracy", "measured": "0.213", "published": "0.213"}
    ]
    assert published_sentences(comparison) == [
        "1 of 2 figures lie inside their interval.",
        "Outside: fa k=0: deep Γ, as published.",
    ]
