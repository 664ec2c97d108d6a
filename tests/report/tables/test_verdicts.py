"""The table of verdicts: one row for each rule, then the floors."""

from __future__ import annotations

from report.studies import (
    audited_study,
    make_audit,
    make_floors,
    make_network,
    make_pairs,
    make_run,
    make_study,
    trained_study,
)
from report.table_rows import cells, columns

from depthgauge.report.tables.verdicts import BRIEF, verdict_table


def test_how_many_blocks_a_rule_trains_leads_the_table():
    bp, dfa = columns(verdict_table(audited_study()))
    assert list(bp)[: len(BRIEF)] == ["rule", "used depth", "verdict", "n", "accuracy"]
    assert list(columns(verdict_table(audited_study()).only(*BRIEF))[0]) == list(BRIEF)
    assert (bp["used depth"], bp["verdict"]) == ("2 of 2", "trustworthy")
    assert dfa["verdict"] == "walk back (D1, D3)"


def test_accuracies_gain_and_findings():
    table = verdict_table(trained_study())
    assert table.titles[3:] == ["n", "accuracy", "frozen", "gain", "D1", "D2", "D3"]
    bp, dfa = table.texts
    assert bp[3:6] == ["3", "70.1 ± 0.1", "30.0 ± 0.0"]
    assert bp[6].startswith("+40.1 [+39.")
    assert bp[7:] == ["passes", "passes", "passes"]
    assert dfa[7:] == ["fires", "passes", "fires"]
    for part in ("98.3 % interval", "without an audit", "Chance: 12.5 %."):
        assert part in table.caption


def test_each_accuracy_leads_to_its_runs_where_runs_are_known():
    bp = cells(verdict_table(trained_study()))[0]
    assert bp["rule"].runs == {"rule": "bp"}
    assert bp["accuracy"].runs == {"rule": "bp", "k": "2"}
    assert bp["frozen"].runs == {"rule": "bp", "k": "0"}
    alone = cells(verdict_table(audited_study(alone=True)))
    assert {cell.runs for row in alone for cell in row.values()} == {None}


def test_captions_promise_nothing_that_one_seed_cannot_give():
    table = verdict_table(make_study(*make_pairs("bp", [0.4]), *make_pairs("dfa", [0.3])))
    assert [row["gain"] for row in columns(table)] == ["+40.0", "+30.0"]
    assert "interval" not in table.caption
    assert "±" not in table.caption


def test_the_caption_says_by_what_rules_were_judged_and_whether_the_study_is_complete():
    study = audited_study()
    assert "Verdicts by the audit." in verdict_table(study).caption
    more = make_study(*study.runs, *make_pairs("fa", [0.1, 0.1]), audit=study.audit)
    assert "Verdicts of fa by the norms" in verdict_table(more).caption
    half = make_study(*make_pairs("bp", [0.4]), make_run("bp", 9, state="running"))
    assert "The study is not complete." in verdict_table(half).caption
    assert "not complete" not in verdict_table(trained_study()).caption


def test_seeds_that_diverged_are_named():
    networks = [make_network("dfa", 1, 0.3, 0.35), *(make_network("dfa", s, None) for s in (7, 8))]
    (row,) = columns(verdict_table(make_study(audit=make_audit(*networks))))
    assert row["verdict"].endswith("; diverged: seed 7, 8")


def test_a_rule_that_always_diverged_has_no_accuracy():
    audit = make_audit(make_network("dfa", 7, None))
    (row,) = columns(verdict_table(make_study(audit=audit)))
    assert (row["accuracy"], row["n"]) == ("–", "0")
    assert row["verdict"].endswith("diverged: seed 7")


def test_networks_without_blocks_have_an_accuracy_and_nothing_to_judge():
    runs = [make_run(f"{rule}[shallow]", k=0, accuracy=0.35) for rule in ("dfa", "bp")]
    dfa, bp = columns(verdict_table(make_study(*runs)))
    assert (dfa["accuracy"], dfa["frozen"], dfa["used depth"]) == ("35.0", "–", "–")
    assert dfa["verdict"] == "no blocks: nothing to judge"
    assert bp["verdict"] == "floor: no blocks"


def test_the_linear_floor_is_the_last_row_or_says_why_there_is_none():
    runs = trained_study().runs
    last = columns(verdict_table(make_study(*runs, linear_floor=make_floors().linear)))[-1]
    assert last["rule"] == "linear classifier"
    assert (last["accuracy"], last["verdict"]) == ("55.0", "floor: no network")
    missing = make_study(*runs, linear_floor=make_floors(linear=None).linear)
    last = columns(verdict_table(missing))[-1]
    assert (last["accuracy"], last["verdict"]) == ("–", "n/a: all training samples have one class")


def test_a_study_without_runs_has_no_rows():
    assert verdict_table(make_study()).rows == ()
