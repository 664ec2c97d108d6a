"""One row for each network."""

from __future__ import annotations

import math

from report.studies import audited_study, make_line, make_pairs, make_run, make_study, trained_study

from depthgauge.report.paper.network_table import network_table
from depthgauge.results.study import StudyResult


def rows_of(study: StudyResult) -> list[list[str]]:
    return network_table(study).rows


def test_by_the_training_record():
    rows = rows_of(trained_study())
    assert [row[:2] for row in rows] == [[rule, seed] for rule in ("bp", "dfa") for seed in "123"]
    assert rows[0][2:] == ["70.0", "2.00", "2", "0.1", "–", "+40.0", "none"]
    assert rows[3][2:] == ["26.0", "700", "700", "0.1", "–", "−4.0", "D1, D3"]


def test_by_the_audit():
    study = audited_study()
    last = study["dfa"].networks[0].report.residual_norms[-1]
    rows = rows_of(study)
    assert rows[2][:3] == ["dfa", "1", "26.0"]
    assert rows[2][3] == f"{last:#.3g}"
    assert rows[2][4:] == ["700", "0.1", "0.4", "−4.0", "D1, D3"]


def test_a_network_that_diverged():
    (row,) = rows_of(make_study(make_run(state="diverged")))
    assert row == ["dfa", "1", "–", "–", "–", "–", "–", "–", "diverged"]


def test_depth_is_not_held_against_a_rule_where_backpropagation_gains_nothing_either():
    rows = rows_of(make_study(*make_pairs("bp", [0.001]), *make_pairs("dfa", [-0.05])))
    assert [row[-1] for row in rows] == ["none"] * 2


def test_a_low_gradient_alone_does_not_fire():
    lines = [make_line(2, gradient=1e-9, growth=growth) for growth in (1.0, math.inf)]
    calm, grown = ({name: line[name] for name in line if name != "g_over_e"} for line in lines)
    assert rows_of(make_study(make_run(lines=[calm])))[0][-1] == "none"
    assert rows_of(make_study(make_run(lines=[grown])))[0][-1] == "D1"
