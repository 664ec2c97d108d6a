"""Which tables a paper gets of a study, and what is in them."""

from __future__ import annotations

import pytest
from report.paper.hostile_names import HOSTILE
from report.paper.markdown_rendered import rendered_tables
from report.studies import audited_study, make_pairs, make_run, make_study, trained_study

from depthgauge.report.paper.cells import plain_text
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.tables import paper_tables
from depthgauge.results.study import StudyResult


def tables_of(study: StudyResult) -> dict[str, PaperTable]:
    return {table.name: table for table in paper_tables(study)}


def column(table: PaperTable, name: str) -> list[str]:
    return [row[table.header.index(name)] for row in table.rows]


def test_an_audited_study_has_every_table():
    tables = tables_of(audited_study())
    assert list(tables) == ["verdicts", "ladder", "diagnostics", "alignment", "utility", "runs"]


def test_a_study_without_an_audit_has_no_table_of_one():
    assert list(tables_of(trained_study())) == ["verdicts", "ladder", "diagnostics", "runs"]


def test_an_audit_without_a_study_has_no_runs():
    tables = tables_of(audited_study(alone=True))
    assert list(tables) == ["verdicts", "diagnostics", "alignment", "utility"]


def test_an_empty_study_has_no_tables():
    assert tables_of(make_study()) == {}


def test_verdicts():
    table = tables_of(trained_study())["verdicts"]
    assert table.header == ["rule", "n", "acc", "frozen", "gain", "D1", "D2", "D3", "verdict"]
    bp, dfa = table.rows
    assert bp[:4] == ["bp", "3", "70.1 ± 0.1", "30.0 ± 0.0"]
    assert bp[4].startswith("+40.1 [+39.")
    assert bp[5:] == ["passes", "passes", "passes", "trustworthy"]
    assert dfa[5:] == ["fires", "passes", "fires", "walk back (D1, D3)"]
    assert "98.3 % interval" in table.caption
    assert "without an audit" in table.caption
    assert "Chance: 12.5 %." in table.caption


def test_captions_promise_nothing_that_one_seed_cannot_give():
    study = make_study(*make_pairs("bp", [0.4]), *make_pairs("dfa", [0.3]))
    table = tables_of(study)["verdicts"]
    assert column(table, "gain") == ["+40.0", "+30.0"]
    assert "interval" not in table.caption
    assert "±" not in table.caption


def test_verdicts_by_the_audit_say_so():
    assert "Verdicts by the audit." in tables_of(audited_study())["verdicts"].caption


def test_a_rule_that_the_audit_left_out_is_named():
    study = audited_study()
    more = make_study(*study.runs, *make_pairs("fa", [0.1, 0.1]), audit=study.audit)
    assert "Verdicts of fa by the norms" in tables_of(more)["verdicts"].caption


def test_a_half_done_study_says_so():
    study = make_study(*make_pairs("bp", [0.4]), make_run("bp", 9, state="running"))
    tables = tables_of(study)
    assert "The study is not complete." in tables["verdicts"].caption
    assert column(tables["ladder"], "k = 2") == ["70.0 (n = 1)"]
    assert "not complete" not in tables_of(trained_study())["verdicts"].caption


def test_a_network_without_blocks_has_an_accuracy_and_no_verdict():
    run = make_run("bp[shallow]", k=0, accuracy=0.35)
    (row,) = tables_of(make_study(run))["verdicts"].rows
    assert row[:3] == ["bp[shallow]", "1", "35.0"]
    assert row[-1] == "no blocks to judge"


def test_the_ladder_counts_what_is_lost():
    runs = [
        *make_pairs("dfa", [0.1, 0.12]),
        make_run("dfa", 1, k=1, state="diverged"),
        make_run("dfa", 2, k=1, accuracy=0.33),
        make_run("fa", 1, k=1, state="failed", reason="out of memory"),
        make_run("ep", 1, k=1, state="waiting"),
    ]
    table = tables_of(make_study(*runs))["ladder"]
    assert table.header == ["rule", "k = 0", "k = 1", "k = 2"]
    assert table.rows == [
        ["dfa", "30.0 ± 0.0", "33.0 (n = 1, 1 lost)", "41.0 ± 1.4"],
        ["fa", "–", "– (1 lost)", "–"],
    ]


def test_every_run_is_listed_whatever_has_become_of_it():
    states = ("finished", "diverged", "failed", "running", "stopped", "waiting")
    runs = [make_run(seed=seed, state=state) for seed, state in enumerate(states)]
    table = tables_of(make_study(*runs))["runs"]
    assert column(table, "state") == list(states)
    assert column(table, "acc") == ["50.0", "–", "–", "–", "–", "–"]
    assert column(table, "run") == [run.identity for run in runs]


def test_ways_of_reporting():
    table = tables_of(audited_study())["utility"]
    assert table.header[:4] == ["rule", "accuracy", "Γ", "Γ + D1"]
    assert column(table, "Γ") == ["0 of 2", "0 of 2"]
    assert column(table, "all") == ["0 of 2", "2 of 2"]


@pytest.mark.parametrize("study", [trained_study, audited_study])
def test_hostile_names_are_text_in_every_table(study):
    for name in HOSTILE:
        for table in tables_of(study(name)).values():
            (rendered,) = rendered_tables(table.to_markdown())
            names = {row[0] for row in rendered[1:]}
            assert names == {"bp", plain_text(name)}
