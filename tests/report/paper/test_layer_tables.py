"""Γ and ρ layer by layer."""

from __future__ import annotations

from report.studies import (
    audited_study,
    make_audit,
    make_network,
    make_null,
    make_study,
    trained_study,
)

from depthgauge.auditing.gauge_readings import NetworkReport
from depthgauge.report.paper.layer_tables import (
    SIDE_BY_SIDE,
    alignment_tables,
    perturbation_tables,
)
from depthgauge.results.study import StudyResult


def study_with(*networks: NetworkReport) -> StudyResult:
    return make_study(audit=make_audit(*networks))


def test_each_layer_has_its_null_reading():
    (table,) = alignment_tables(audited_study())
    assert table.header == ["rule", "seed", "embed", "block 0", "blocks"]
    assert table.rows[0] == ["bp", "1", "–", "+1.000", "–"]
    assert table.rows[2] == ["dfa", "1", "–", "+0.250 s", "specific"]
    assert "200 fresh feedbacks: s specific" in table.caption


def test_without_a_null_nothing_is_said_of_one():
    (table,) = alignment_tables(study_with(make_network("dfa", gamma=(None, 0.25))))
    assert table.header == ["rule", "seed", "embed", "block 0"]
    assert "fresh" not in table.caption


def test_too_few_draws_give_no_letter():
    null = make_null(word="n/a", words=("absent", "n/a"))
    (table,) = alignment_tables(study_with(make_network("dfa", gamma=(None, 0.25), null=null)))
    assert table.rows[0][3:] == ["+0.250", "n/a"]


def test_more_layers_than_fit_become_several_tables():
    values = [0.1 * layer for layer in range(SIDE_BY_SIDE + 2)]
    first, second = perturbation_tables(study_with(make_network("dfa", rho=values)))
    assert (first.name, second.name) == ("perturbation-1", "perturbation-2")
    assert second.header == ["rule", "seed", f"block {SIDE_BY_SIDE - 1}", f"block {SIDE_BY_SIDE}"]
    assert second.rows == [["dfa", "1", "+0.800", "+0.900"]]


def test_a_network_with_fewer_layers_has_dashes():
    short = make_network("bp", gamma=(None, 1.0))
    (table,) = alignment_tables(study_with(short, make_network("dfa", gamma=(0.1, 0.2, 0.3))))
    assert table.rows[0] == ["bp", "1", "–", "+1.000", "–"]


def test_without_an_audit_there_is_none():
    study = trained_study()
    assert alignment_tables(study) == []
    assert perturbation_tables(study) == []
