"""Settings that were tried, and ways of reporting."""

from __future__ import annotations

from report.studies import audit_of_verdicts, make_audit, make_study, make_verdict, spread

from depthgauge.report.tables.selection import selection_table
from depthgauge.report.tables.utility import utility_table
from depthgauge.results.audit_parts import Candidate, Selection


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
    assert selection_table(make_study(audit=make_audit(selection=selection))).texts == [
        ["dfa", "31.0 ± 1.2", ""],
        ["dfa[x]", "40.0", "yes"],
        ["dfa[y]", "–", ""],
        ["bp", "60.0", "yes"],
    ]
    assert selection_table(make_study(audit=make_audit())).rows == ()


def test_every_way_of_reporting_with_what_it_walks_back():
    verdicts = {"dfa": make_verdict(), "bp": make_verdict()}
    utility = {
        "accuracy": {"dfa": (0, 3), "bp": (0, 3)},
        "accuracy + mean Γ + D1": {"dfa": (3, 3), "bp": (0, 0)},
    }
    audit = audit_of_verdicts(verdicts).model_copy(update={"decision_utility": utility})
    table = utility_table(make_study(audit=audit))
    assert table.titles == ["rule", "accuracy", "Γ + D1"]
    assert table.texts == [["dfa", "0 of 3", "3 of 3"], ["bp", "0 of 3", "–"]]
    assert utility_table(make_study()).rows == ()
