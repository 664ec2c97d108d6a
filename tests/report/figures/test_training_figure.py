"""Training as a figure."""

from __future__ import annotations

import pytest
from report.figures.drawn import draw, legend, lines_with, panel, stars
from report.studies import make_audit, make_line, make_network, make_run, make_study

from depthgauge.report.figures import training
from depthgauge.verdict.thresholds import Thresholds


def growing(*growths, **more):
    return [make_line(e, h_norm=[1.0, 1.0, g], **more) for e, g in enumerate(growths)]


def test_accuracy_growth_and_gradient_by_epoch():
    lines = [
        make_line(0),
        make_line(1, accuracy=0.7, h_norm=[1.0, 5.0, 6.0], g_norm=[1.0, 1.0, 0.01]),
    ]
    figure = draw(training, make_study(make_run("bp", lines=lines)))
    shown = [lines_with(panel(figure, t), faint=False) for t in ("accuracy", "D1", "D2")]
    assert shown == [[[(0, 0), (1, 70)]], [[(0, 2), (1, 5)]], [[(0, 0.1), (1, 0.01)]]]
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log", "log"]


def test_thresholds_are_drawn_and_lie_within_the_panels():
    figure = draw(training, make_study(make_run("bp")))
    for start, threshold in (("D1", 50), ("D2", 1.28e-5)):
        axes = panel(figure, start)
        (line,) = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert set(line.get_ydata()) == {threshold}
        assert axes.get_ylim()[0] < threshold < axes.get_ylim()[1]


def test_the_mean_over_seeds_is_geometric_on_the_log():
    runs = [make_run("bp", seed, lines=growing(1.0, g)) for seed, g in ((1, 2.0), (2, 32.0))]
    axes = panel(draw(training, make_study(*runs)), "D1")
    assert lines_with(axes, faint=False) == [[(0, 1), (1, pytest.approx(8))]]
    assert lines_with(axes, faint=True) == [[(0, 1), (1, 2)], [(0, 1), (1, 32)]]


def test_a_star_marks_where_each_seed_first_fires():
    runs = [
        make_run("x", s, lines=growing(1.0, *g)) for s, g in ((1, (60.0, 90.0)), (2, (2.0, 70.0)))
    ]
    figure = draw(training, make_study(*runs))
    assert stars(panel(figure, "D1")) == [(1, 60), (2, 70)]
    assert stars(panel(figure, "D2")) == []
    assert "first fires, seed by seed" in legend(figure)


def test_the_gradient_fires_only_together_with_its_share_of_the_error():
    low = [make_line(1, g_norm=[1.0, 1.0, 1e-9], g_over_e=share) for share in (1e-9, 0.5)]
    runs = [
        make_run(rule, lines=[make_line(0), line]) for rule, line in zip("xy", low, strict=True)
    ]
    assert stars(panel(draw(training, make_study(*runs)), "D2")) == [(1, 1e-9)]


def test_metrics_without_the_share_are_drawn_and_never_fire():
    line = make_line(1, g_norm=[1.0, 1.0, 1e-9])
    del line["g_over_e"]
    figure = draw(training, make_study(make_run(lines=[line])))
    assert lines_with(panel(figure, "D2"), faint=False) == [[(1, 1e-9)]]
    assert stars(panel(figure, "D2")) == []
    assert "first fires, seed by seed" not in legend(figure)


def test_the_thresholds_are_those_of_the_audit():
    audit = make_audit(make_network("x"), thresholds=Thresholds(growth=3.0))
    runs = [make_run("x", lines=growing(1.0, 4.0))]
    assert stars(panel(draw(training, make_study(*runs, audit=audit)), "D1")) == [(1, 4)]


def test_a_run_that_diverged_ends_early_with_a_star_at_the_edge():
    lost = make_line(2, accuracy=None, h_norm=[None] * 3, g_norm=[None] * 3, diverged=True)
    figure = draw(
        training, make_study(make_run("x", accuracy=None, lines=[*growing(1.0, 2.0), lost]))
    )
    assert lines_with(panel(figure, "D1"), faint=False) == [[(0, 1), (1, 2)]]
    assert [epoch for epoch, _ in stars(panel(figure, "D1"))] == [2]
    assert "x (1 diverged)" in legend(figure)


def test_a_gradient_of_zero_leaves_a_gap():
    lines = [make_line(e, g_norm=[1.0, 1.0, g]) for e, g in enumerate((0.1, 0.0, None, 0.2))]
    figure = draw(training, make_study(make_run(lines=lines)))
    assert lines_with(panel(figure, "D2"), faint=False) == [[(0, 0.1), (3, 0.2)]]


def test_a_run_in_progress_is_drawn_as_far_as_it_is():
    figure = draw(
        training, make_study(make_run(state="running", accuracy=None, lines=growing(1.0, 2.0)))
    )
    assert lines_with(panel(figure, "D1"), faint=False) == [[(0, 1), (1, 2)]]


@pytest.mark.parametrize("run", [make_run(k=0), make_run(k=1), make_run(lines=[])])
def test_without_a_record_there_is_no_training_to_draw(run):
    study = make_study(run)
    assert "no training" in (training.missing(study) or "")
