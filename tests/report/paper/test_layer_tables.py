"""Γ and ρ layer by layer."""

from __future__ import annotations

from typing import Any

from report.paper.paper_studies import audited_study, recorded_study

from depthgauge.report.paper.layer_tables import (
    SIDE_BY_SIDE,
    alignment_tables,
    perturbation_tables,
)
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.rule_views import rule_views


def with_reading(name: str, reading: dict[str, Any]) -> Gathered:
    study = audited_study()
    assert study.audit is not None
    study.audit["reports"]["dfa_s1"]["readings"][name] = reading
    return study


def test_each_layer_has_its_null_reading():
    study = audited_study()
    (table,) = alignment_tables(study, rule_views(study))
    assert table.header == ["rule", "seed", "embed", "block 0", "blocks"]
    assert table.rows[0] == ["bp", "1", "–", "+1.000", "–"]
    assert table.rows[2] == ["dfa", "1", "–", "+0.250 s", "specific"]
    assert "200 fresh feedbacks: s specific" in table.caption


def test_without_a_null_nothing_is_said_of_one():
    study = audited_study()
    assert study.audit is not None
    for report in study.audit["reports"].values():
        report["readings"].pop("null", None)
    (table,) = alignment_tables(study, rule_views(study))
    assert table.header == ["rule", "seed", "embed", "block 0"]
    assert "fresh" not in table.caption


def test_too_few_draws_give_no_letter():
    study = audited_study()
    assert study.audit is not None
    null = study.audit["reports"]["dfa_s1"]["readings"]["null"]
    null["per_layer"][1]["word"] = null["deep"]["word"] = "n/a"
    (table,) = alignment_tables(study, rule_views(study))
    assert table.rows[2][3:] == ["+0.250", "n/a"]


def test_more_layers_than_fit_become_several_tables():
    values = [0.1 * layer for layer in range(SIDE_BY_SIDE + 2)]
    study = with_reading("perturbation", {"per_layer": values})
    first, second = perturbation_tables(study, rule_views(study))
    assert (first.name, second.name) == ("perturbation-1", "perturbation-2")
    assert second.header == ["rule", "seed", f"block {SIDE_BY_SIDE - 1}", f"block {SIDE_BY_SIDE}"]
    assert second.rows == [["dfa", "1", "+0.800", "+0.900"]]


def test_a_network_with_fewer_layers_has_dashes():
    study = with_reading("alignment", {"per_layer": [0.1, 0.2, 0.3]})
    (table,) = alignment_tables(study, rule_views(study))
    assert table.rows[0] == ["bp", "1", "–", "+1.000", "–", "–"]


def test_without_an_audit_there_is_none():
    study = recorded_study()
    assert alignment_tables(study, rule_views(study)) == []
    assert perturbation_tables(study, rule_views(study)) == []
