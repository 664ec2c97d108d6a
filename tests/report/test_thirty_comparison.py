"""Thirty epochs measured beside published, as tables and in words."""

from __future__ import annotations

from report.tables import columns
from studies.thirty import make_document, make_report

from depthgauge.report.thirty_comparison import thirty_comparison_tables, thirty_comparison_words
from depthgauge.studies.published_thirty import compare_thirty

REPORTS = {
    "bp_s42": make_report(0.585),
    "dfa[penalty=0.01]_s42": make_report(0.36, 0.5, 0.08),
    "state_bridge_s42": make_report(0.2134),
}


def test_one_table_for_each_quantity_with_its_own_title():
    accuracy, gamma, rho, one_seed = thirty_comparison_tables(
        compare_thirty(make_document(REPORTS))
    )
    rows = columns(accuracy)
    assert [row["accuracy, %"] for row in rows] == ["bp", "dfa[penalty=0.01]"]
    assert (rows[0]["measured"], rows[0]["published"]) == ("58.5", "58.5 ± 0.1")
    (row,) = columns(gamma)
    assert row["deep Γ, record, %"] == "dfa[penalty=0.01]"
    assert (row["measured"], row["difference"]) == ("50.0", "+34.9")
    assert [row["deep ρ, %"] for row in columns(rho)] == ["dfa[penalty=0.01]"]
    bridge, *_ = columns(one_seed)
    assert bridge == {
        "seed 42": "state_bridge: accuracy",
        "measured": "0.213",
        "published": "0.213",
    }


def test_words_count_all_figures_and_name_what_is_outside():
    inside, outside = thirty_comparison_words(compare_thirty(make_document(REPORTS)))
    assert inside == "3 of 4 figures lie inside their interval."
    assert outside == "Outside: dfa[penalty=0.01]: deep Γ, record."


def test_another_recipe_is_said():
    (words,) = thirty_comparison_words(compare_thirty(make_document(REPORTS, epochs=3)))
    assert "epochs 3 instead of 30" in words
