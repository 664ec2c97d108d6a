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
from depthgauge.report.tables.layers import (
    SIDE_BY_SIDE,
    alignment_table,
    in_parts,
    perturbation_table,
)
from depthgauge.results.study import StudyResult


def study_with(*networks: NetworkReport) -> StudyResult:
    return make_study(audit=make_audit(*networks))


def test_each_layer_has_its_null_reading():
    table = alignment_table(audited_study())
    assert table.titles == ["rule", "seed", "embed", "block 0", "blocks"]
    assert table.texts[0] == ["bp", "1", "–", "+1.000", "–"]
    assert table.texts[2] == ["dfa", "1", "–", "+0.250 s", "specific"]
    assert "200 fresh feedbacks: s specific" in table.caption


def test_without_a_null_nothing_is_said_of_one():
    table = alignment_table(study_with(make_network("dfa", gamma=(None, 0.25))))
    assert table.titles == ["rule", "seed", "embed", "block 0"]
    assert "fresh" not in table.caption


def test_too_few_draws_give_no_letter():
    null = make_null(word="n/a", words=("absent", "n/a"))
    table = alignment_table(study_with(make_network("dfa", gamma=(None, 0.25), null=null)))
    assert table.texts[0][3:] == ["+0.250", "n/a"]


def test_a_network_with_fewer_blocks_has_dashes_and_keeps_its_null_in_the_last_column():
    null = make_null(word="specific")
    networks = [
        make_network("dfa[wide_block]", gamma=(0.1, 0.2), null=null),
        make_network("dfa", gamma=(0.1, 0.2, 0.3, 0.4), null=null),
    ]
    rows = {row[0]: row for row in alignment_table(study_with(*networks)).texts}
    assert rows["dfa[wide_block]"][-3:] == ["–", "–", "specific"]


def test_on_paper_more_layers_than_fit_become_several_tables():
    values = [0.1 * layer for layer in range(SIDE_BY_SIDE + 2)]
    table = perturbation_table(study_with(make_network("dfa", rho=values)))
    first, second = in_parts(table)
    assert (first.name, second.name) == ("perturbation-1", "perturbation-2")
    assert second.titles == ["rule", "seed", f"block {SIDE_BY_SIDE - 1}", f"block {SIDE_BY_SIDE}"]
    assert second.texts == [["dfa", "1", "+0.800", "+0.900"]]


def test_the_null_of_the_blocks_is_in_every_part():
    null = make_null(word="generic", words=("absent",) * (SIDE_BY_SIDE + 1))
    gamma = [0.1] * (SIDE_BY_SIDE + 1)
    table = alignment_table(study_with(make_network("dfa", gamma=gamma, null=null)))
    assert [part.titles[-1] for part in in_parts(table)] == ["blocks", "blocks"]


def test_few_layers_are_one_table_and_none_are_none():
    table = alignment_table(audited_study())
    assert in_parts(table) == [table]
    for study in (trained_study(), study_with(make_network(accuracy=None))):
        assert in_parts(alignment_table(study)) == in_parts(perturbation_table(study)) == []
