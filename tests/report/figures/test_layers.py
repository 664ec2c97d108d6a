"""Norms, Γ and ρ by layer as a figure."""

from __future__ import annotations

import pytest
from report.figures.drawn import draw, legend, lines_with, panel
from report.studies import (
    make_audit,
    make_line,
    make_network,
    make_null,
    make_run,
    make_study,
)

from depthgauge.report.figures import layers

READ = {
    "norms": (1.0, 10.0, 100.0),
    "gradients": (1.0, 0.1, 0.0),
    "gamma": (0.9, None, 0.7),
    "rho": (0.8, 0.6, -0.1),
}


def titles(figure):
    return [axes.get_title(loc="left").split(":")[0] for axes in figure.axes]


def test_norms_are_those_of_the_last_epoch_of_runs_with_all_blocks_trained():
    last = make_line(2, h_norm=[1.0, 3.0, 9.0], g_norm=[0.5, 0.05, 0.005])
    runs = [make_run("bp", lines=[make_line(1), last]), make_run("bp", k=0)]
    figure = draw(layers, make_study(*runs))
    assert titles(figure) == ["stream", "gradient of a sample"]
    assert lines_with(panel(figure, "stream"), faint=False) == [[(0, 1), (1, 3), (2, 9)]]
    assert lines_with(panel(figure, "gradient"), faint=False) == [[(0, 0.5), (1, 0.05), (2, 0.005)]]
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}


def test_the_mean_over_seeds_is_geometric_and_seeds_are_faint():
    lines = [[make_line(h_norm=[1.0, 2.0, h])] for h in (1.0, 100.0)]
    figure = draw(layers, make_study(*(make_run("bp", n, lines=ls) for n, ls in enumerate(lines))))
    axes = panel(figure, "stream")
    assert lines_with(axes, faint=False) == [[(0, 1), (1, 2), (2, pytest.approx(10))]]
    assert [seed[-1] for seed in lines_with(axes, faint=True)] == [(2, 1), (2, 100)]


def test_what_has_no_logarithm_is_left_out_of_the_line():
    lines = [make_line(h_norm=[1.0, None, 4.0], g_norm=[0.3, 0.0, 0.1])]
    figure = draw(layers, make_study(make_run("bp", lines=lines)))
    assert lines_with(panel(figure, "stream"), faint=False) == [[(0, 1), (2, 4)]]
    assert lines_with(panel(figure, "gradient"), faint=False) == [[(0, 0.3), (2, 0.1)]]


def test_an_audit_adds_gamma_with_its_null_band_and_rho():
    figure = draw(
        layers, make_study(audit=make_audit(make_network("dfa", **READ, null=make_null())))
    )
    assert titles(figure) == ["stream", "gradient of a sample", "Γ", "ρ"]
    gamma = panel(figure, "Γ")
    assert lines_with(gamma, faint=False) == [[(0, 0.9), (2, 0.7)]]
    assert lines_with(panel(figure, "ρ"), faint=False) == [[(0, 0.8), (1, 0.6), (2, -0.1)]]
    (band,) = gamma.collections
    edges = {(float(x), round(float(y), 6)) for x, y in band.get_paths()[0].vertices}
    assert {(0, -0.1), (0, 0.1), (1, 0.0), (1, 0.2), (2, 0.1), (2, 0.3)} <= edges
    assert "fresh feedback" in legend(figure)[-1]


def test_the_credit_begins_with_the_embedding():
    figure = draw(layers, make_study(audit=make_audit(make_network("dfa", **READ))))
    labels = [label.get_text() for label in panel(figure, "Γ").get_xticklabels()]
    assert [label for label in labels if label in ("embed", "0", "1")] == ["embed", "0", "1"]


def test_an_audit_without_runs_has_its_own_norms():
    figure = draw(layers, make_study(audit=make_audit(make_network("dfa", **READ))))
    assert lines_with(panel(figure, "stream"), faint=False) == [[(0, 1), (1, 10), (2, 100)]]
    assert lines_with(panel(figure, "gradient"), faint=False) == [[(0, 1), (1, 0.1)]]


def test_networks_with_fewer_blocks_have_shorter_lines():
    short = make_run("x[wide_block]", k=1, lines=[make_line(h_norm=[1.0, 2.0], g_norm=[1.0, 1.0])])
    figure = draw(layers, make_study(make_run("bp"), short))
    assert sorted(map(len, lines_with(panel(figure, "stream"), faint=False))) == [2, 3]


def test_diverged_networks_are_said_in_the_legend():
    nothing = [make_line(h_norm=[None] * 3, g_norm=[None] * 3, diverged=True)]
    figure = draw(layers, make_study(make_run("bp"), make_run("x", accuracy=None, lines=nothing)))
    assert legend(figure) == ["bp", "x (1 diverged)"]


def test_a_study_without_finished_networks_has_no_layers():
    for run in [make_run(k=0), make_run(lines=[]), make_run(state="running")]:
        study = make_study(run)
        assert "no layers" in (layers.missing(study) or "")
