"""The charts of a page, section by section."""

from __future__ import annotations

import pytest
from report.studies import (
    audited_study,
    make_audit,
    make_network,
    make_run,
    make_study,
    trained_study,
)

from depthgauge.report.charts.rule_styles import rule_styles
from depthgauge.report.page.charts import options, page_charts


def titles(section) -> list[str]:
    return [panel.title for panel in section]


def test_an_audited_study_has_every_section():
    charts = page_charts(audited_study())
    assert titles(charts.ladder) == ["Accuracy over the number of trained blocks"]
    assert titles(charts.audit) == [
        *("D1 scale", "D2 reference", "D2s stability", "D3 depth utility")
    ]
    assert titles(charts.layers)[:2] == ["Stream", "True gradient of a sample"]
    assert titles(charts.training)[0] == "Accuracy"
    assert titles(charts.null) == ["dfa"]
    assert charts.unread == []
    ids = [panel.id for panel in charts.panels]
    assert len(set(ids)) == len(ids)
    assert all(panel.description for panel in charts.panels)


def test_a_study_without_an_audit_lacks_what_only_an_audit_reads():
    charts = page_charts(trained_study())
    assert titles(charts.audit) == ["D1 scale", "D2 reference", "D3 depth utility"]
    assert charts.unread == ["D2s stability"]
    assert charts.null == []


def test_a_study_with_nothing_done_has_no_charts():
    for study in (make_study(), make_study(make_run(state="waiting", lines=[]))):
        assert page_charts(study).panels == []


def test_an_audit_without_runs_has_no_ladder_and_no_training():
    charts = page_charts(make_study(audit=make_audit(make_network())))
    assert (charts.ladder, charts.training) == ([], [])
    assert len(charts.audit) == 4
    assert charts.layers


def test_legends_have_the_style_of_every_rule_also_of_those_that_wait():
    study = make_study(make_run("mine", state="waiting", lines=[]), make_run("bp"))
    assert page_charts(study).styles == rule_styles(["mine", "bp"])


@pytest.mark.parametrize(
    ("field", "values"), [("k", [0, 1, 2]), ("seed", [1, 2, 3]), ("epoch", [0, 1, 2])]
)
def test_a_reader_chooses_among_what_there_is(field, values):
    assert options(page_charts(trained_study()).layers, field) == values
