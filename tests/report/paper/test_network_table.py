"""One row for each network."""

from __future__ import annotations

import math

from report.paper.paper_studies import audited_study, make_run, make_study, pairs, recorded_study

from depthgauge.report.paper.network_table import network_table
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.rule_views import rule_views


def rows_of(study: Gathered) -> list[list[str]]:
    return network_table(study, rule_views(study)).rows


def test_by_the_training_record():
    rows = rows_of(recorded_study())
    assert [row[:2] for row in rows] == [[rule, seed] for rule in ("bp", "dfa") for seed in "123"]
    assert rows[0][2:] == ["70.0", "3.00", "1.50", "0.100", "–", "trustworthy"]
    assert rows[3][2:] == ["26.0", "1.40×10³", "700", "0.100", "–", "walk back (D1, D3)"]


def test_by_the_audit():
    study = audited_study()
    assert study.audit is not None
    last = study.audit["reports"]["dfa_s1"]["residual_norms"][-1]
    gradient = study.audit["reports"]["dfa_s1"]["bp_grad_norms"][-1]
    rows = rows_of(study)
    assert rows[2][:3] == ["dfa", "1", "26.0"]
    assert rows[2][3] == f"{last:#.3g}"
    assert rows[2][4:] == ["700", f"{gradient:#.3g}", "0.400", "walk back (D1, D3)"]


def test_a_network_that_diverged():
    (row,) = rows_of(make_study([make_run(state="diverged")]))
    assert row == ["dfa", "1", "–", "–", "–", "–", "–", "diverged"]


def test_depth_is_not_held_against_a_rule_where_backpropagation_gains_nothing_either():
    rows = rows_of(make_study([*pairs("bp", [0.001]), *pairs("dfa", [-0.05])]))
    assert [row[-1] for row in rows] == ["no alarm, depth untested"] * 2


def test_a_low_gradient_alone_is_not_judged():
    run = make_run(gradient=1e-9)
    del run.lines[0]["g_over_e"]
    assert rows_of(make_study([run]))[0][-1] == "not judged"
    grown = make_run(gradient=1e-9, growth=math.inf)
    del grown.lines[0]["g_over_e"]
    assert rows_of(make_study([grown]))[0][-1] == "walk back (D1)"
