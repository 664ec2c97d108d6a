"""Measured beside published, as a table and in words."""

from __future__ import annotations

from dataclasses import asdict

from depthgauge.report.comparison_table import HEADER, comparison_rows, comparison_words
from depthgauge.studies.published import compare


def rung(what, values, figure, alike=True):
    return asdict(compare(what, values, figure, alike))


def document(*rungs, unlike=()):
    return {"rungs": list(rungs), "unlike": list(unlike)}


def test_a_row_inside():
    (row,) = comparison_rows([rung("bp k=4", [0.61, 0.62, 0.63], [0.617, 0.002])])
    assert len(row) == len(HEADER)
    assert row[:5] == ["bp k=4", "62.0 ± 1.0", "3", "61.7 ± 0.2", "+0.3"]
    assert row[5].startswith("± 1.")
    assert row[6] == "inside"


def test_a_row_outside_catches_the_eye():
    (row,) = comparison_rows([rung("bp k=4", [0.5], [0.617, 0.002])])
    assert row == ["bp k=4", "50.0", "1", "61.7 ± 0.2", "-11.7", "± 1.0", "OUTSIDE"]


def test_a_row_that_was_not_measured_alike():
    (row,) = comparison_rows([rung("bp k=4", [0.5], [0.617, 0.002], alike=False)])
    assert row[5:] == ["–", "not alike"]


def test_words_when_all_is_well():
    good = rung("bp k=4", [0.617], [0.617, 0.002])
    words = " ".join(comparison_words(document(good, good)))
    assert "2 of 2" in words
    assert "Outside" not in words


def test_words_name_what_is_outside():
    good, bad = rung("bp k=4", [0.617], [0.617, 0.002]), rung("fa k=0", [0.9], [0.355, 0.003])
    words = " ".join(comparison_words(document(good, bad)))
    assert "1 of 2" in words
    assert "Outside: fa k=0." in words


def test_words_when_the_epochs_differ():
    words = " ".join(comparison_words(document(unlike=["epochs 30 instead of 100"])))
    assert "epochs 30 instead of 100" in words
    assert "inside" not in words
