"""The audit as tables."""

from __future__ import annotations

from report.studies import (
    audit_of_verdicts,
    audited_study,
    make_audit,
    make_floors,
    make_network,
    make_null,
    make_study,
    make_verdict,
    spread,
)
from report.tables import columns

from depthgauge.diagnostics.finding import Finding
from depthgauge.report.audit_table import (
    TABLES,
    layer_table,
    rule_table,
    run_table,
    selection_table,
    training_table,
    utility_table,
)
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import Candidate, Selection, ShallowRule

BAD = {"growth": 700.0, "gradient": 5.12e-7, "stability": 0.4567}


def of(audit: Audit):
    return make_study(audit=audit)


def test_one_row_for_each_network():
    bad = make_network("dfa", 42, 0.3049, 0.349, norms=(1.0, 1.0, 4.12e8), **BAD)
    (row,) = columns(run_table(of(make_audit(bad))))
    assert row == {
        "rule": "dfa",
        "seed": "42",
        "acc": "30.5",
        "frozen": "34.9",
        "‖h_L‖": "4.12×10⁸",
        "growth": "700",
        "‖g_L‖": "5.12×10⁻⁷",
        "stability": "0.457",
        "gain": "−4.4",
        "fires": "D1, D2, D3",
    }


def test_the_epoch_at_which_a_diagnostic_first_fired():
    watched = [{}, {"D1": None, "D2": 1}, {"D1": 3}]
    networks = [make_network(seed=seed, first_fired=f) for seed, f in enumerate(watched)]
    never, unread = columns(training_table(of(make_audit(*networks))))
    assert (never["D1 first fires"], never["D2 first fires"]) == ("never", "epoch 1")
    assert (unread["D1 first fires"], unread["D2 first fires"]) == ("epoch 3", "n/a")


def test_what_is_not_known_is_a_dash_also_where_a_diverged_network_counts_as_something():
    networks = [make_network("dfa", 1, 0.5, None, stability=None), make_network("dfa", 2, None)]
    unknown, diverged = columns(run_table(of(make_audit(*networks))))
    assert (unknown["stability"], unknown["frozen"], unknown["gain"]) == ("–", "–", "–")
    assert unknown["fires"] == "none"
    assert diverged["fires"] == "diverged"
    for name in ("acc", "‖h_L‖", "growth", "‖g_L‖", "stability"):
        assert diverged[name] == "–"


def test_one_row_for_each_rule_with_the_spread_over_seeds():
    dfa = [make_network("dfa", s, 0.30 + s / 100, 0.35, growth=700.0) for s in (1, 2)]
    bp = [make_network("bp", s, 0.60 + s / 1000, 0.35) for s in (1, 2)]
    bad, good = columns(rule_table(of(make_audit(*dfa, *bp))))
    assert bad == {
        "rule": "dfa",
        "accuracy": "31.5 ± 0.7",
        "frozen": "35.0 ± 0.0",
        "used depth": "–",
        "verdict": "walk back (D1)",
    }
    assert good["verdict"] == "no alarm, depth untested"


def test_how_many_blocks_a_rule_trains_leads_the_table():
    bp, dfa = columns(rule_table(audited_study()))
    assert list(bp)[:2] == ["rule", "used depth"]
    assert (bp["used depth"], bp["verdict"]) == ("2 of 2", "trustworthy")
    assert dfa["verdict"] == "walk back (D1, D3)"


def test_seeds_that_diverged_are_named():
    networks = [make_network("dfa", 1, 0.3, 0.35), *(make_network("dfa", s, None) for s in (7, 8))]
    (row,) = columns(rule_table(of(make_audit(*networks))))
    assert row["verdict"].endswith("; diverged: seed 7, 8")


def test_a_rule_that_always_diverged_has_no_accuracy():
    (row,) = columns(rule_table(of(make_audit(make_network("dfa", 7, None)))))
    assert row["accuracy"] == "–"
    assert row["verdict"].endswith("diverged: seed 7")


def test_networks_without_blocks_have_an_accuracy_and_nothing_to_judge():
    shallow = {
        "dfa[shallow]": ShallowRule(accuracy=spread(0.3512, 0.004), accuracies={}, runs={}),
        "bp[shallow]": ShallowRule(accuracy=spread(None), accuracies={}, runs={}),
    }
    _, dfa, bp = columns(rule_table(of(make_audit(make_network(), shallow=shallow))))
    assert dfa == {
        "rule": "dfa[shallow]",
        "accuracy": "35.1 ± 0.4",
        "frozen": "–",
        "used depth": "–",
        "verdict": "no blocks: nothing to judge",
    }
    assert (bp["rule"], bp["accuracy"]) == ("bp[shallow]", "–")


def candidate(mean: float | None, std: float | None = None) -> Candidate:
    return Candidate(accuracy=spread(mean, std), lost=0, runs=())


def test_every_setting_that_was_tried_with_the_chosen_one_marked():
    tried = {
        "dfa": candidate(0.31, 0.012),
        "dfa[x]": candidate(0.4),
        "dfa[y]": candidate(None),
    }
    selection = {
        "dfa": Selection(chosen="dfa[x]", samples=9, candidates=tried),
        "bp": Selection(chosen="bp", samples=9, candidates={"bp": candidate(0.6)}),
    }
    table = selection_table(of(make_audit(selection=selection)))
    assert [list(row.values()) for row in columns(table)] == [
        ["dfa", "31.0 ± 1.2", ""],
        ["dfa[x]", "40.0", "yes"],
        ["dfa[y]", "–", ""],
        ["bp", "60.0", "yes"],
    ]
    assert selection_table in TABLES
    assert selection_table(of(make_audit()))[1] == []


def test_every_way_of_reporting_with_what_it_walks_back():
    verdicts = {"dfa": make_verdict(), "bp": make_verdict()}
    utility = {"accuracy": {"dfa": (0, 3), "bp": (0, 3)}, "all": {"dfa": (3, 3), "bp": (0, 0)}}
    audit = audit_of_verdicts(verdicts).model_copy(update={"decision_utility": utility})
    header, rows = utility_table(of(audit))
    assert header == ["what is reported", "dfa walked back", "bp walked back"]
    assert rows == [["accuracy", "0 of 3", "0 of 3"], ["all", "3 of 3", "–"]]


def test_alignment_layer_by_layer():
    networks = [
        make_network("dfa", 42, gamma=(0.1634, -0.02, None), null=make_null(word="specific")),
        make_network("bp", 42, gamma=(1.0, 1.0, 1.0)),
        make_network("bp", 7, None),
    ]
    header, found = layer_table(of(make_audit(*networks)))
    assert header == ["Γ", "seed", "embed", "block 0", "block 1", "null, deep"]
    assert found == [
        ["dfa", "42", "+0.163", "−0.020", "–", "specific"],
        ["bp", "42", "+1.000", "+1.000", "+1.000", "n/a"],
    ]


def test_a_network_with_fewer_blocks_keeps_its_null_in_the_last_column():
    null = make_null(word="specific")
    networks = [
        make_network("dfa[wide_block]", gamma=(0.1, 0.2), null=null),
        make_network("dfa", gamma=(0.1, 0.2, 0.3, 0.4), null=null),
    ]
    header, rows = layer_table(of(make_audit(*networks)))
    by_label = {row[0]: row for row in rows}
    assert {len(row) for row in rows} == {len(header)}
    assert by_label["dfa[wide_block]"][-3:] == ["–", "–", "specific"]


def test_without_any_alignment_there_is_nothing_layer_by_layer():
    for networks in [(), (make_network(),), (make_network(accuracy=None),)]:
        assert layer_table(of(make_audit(*networks)))[1] == []


def test_floors_are_the_last_rows():
    fired = Finding("D1", "fires", {}, "scale: it grows")
    verdicts = {label: make_verdict(findings=(fired,)) for label in ("bp", "dfa")}
    shallow = {
        label: ShallowRule(accuracy=spread(0.45), accuracies={1: 0.45}, runs={1: "0" * 16})
        for label in ("bp[shallow]", "dfa[shallow]")
    }
    audit = audit_of_verdicts(verdicts, shallow=shallow).model_copy(
        update={"floors": make_floors()}
    )
    rows = {row["rule"]: row["verdict"] for row in columns(rule_table(of(audit)))}
    assert rows == {
        "bp": "walk back (D1)",
        "dfa": "walk back (D1)",
        "bp[shallow]": "floor: no blocks",
        "dfa[shallow]": "no blocks: nothing to judge",
        "linear classifier": "floor: no network",
    }
