"""All figures together: for the page, and with names that are not made for them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from report.figures.drawn import lay_out
from report.studies import make_audit, make_network, make_null, make_run, make_study

from depthgauge.report.figures.all import FIGURES, figures_of
from depthgauge.report.figures.style import file_of, one_pdf

HOSTILE = ["bp", "$x_1$ <b>", "_a", "ep[credit=displacement,nudge=10.0]", "a\nb", "]]>", " "]


def whole_study(*rules):
    runs = [make_run(rule, k=k, accuracy=0.3 + k / 10) for rule in rules for k in (0, 1, 2)]
    read = {"gamma": (0.9, None, 0.7), "rho": (0.8, 0.6, -0.1), "null": make_null()}
    networks = [make_network(rule, **read) for rule in rules]
    return make_study(*runs, audit=make_audit(*networks))


def test_every_figure_that_a_study_has_data_for():
    study = whole_study("bp", "dfa")
    drawn = figures_of(study)
    assert list(drawn) == ["ladder", "audit", "layers", "training", "null"] == list(FIGURES)
    for figure in drawn.values():
        assert ET.fromstring(file_of(figure, "svg")).tag.endswith("svg")


def test_figures_without_data_are_left_out():
    study = make_study(make_run(k=0))
    assert list(figures_of(study)) == ["ladder"]
    assert figures_of(make_study()) == {}


def test_one_pdf_has_a_page_for_each_figure_and_is_the_same_every_time():
    study = whole_study("bp", "dfa")
    drawn, again = (list(figures_of(study).values())[:2] for _ in range(2))
    content = one_pdf(drawn)
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page ") == len(drawn)
    assert b"/Subtype /Type3" not in content
    assert one_pdf(again) == content


@pytest.mark.parametrize("name", FIGURES)
def test_names_that_are_not_made_for_figures(name, recwarn):
    study = whole_study(*HOSTILE)
    lay_out(FIGURES[name].draw(study))
    assert not recwarn.list


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_changes_what_it_draws_from(name):
    study = whole_study("bp")
    FIGURES[name].draw(study)
    assert whole_study("bp") == study
