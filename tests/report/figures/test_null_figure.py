"""The null calibration as a figure."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import StepPatch
from report.figures.drawn import draw, lay_out
from report.studies import make_audit, make_network, make_null, make_run, make_study

from depthgauge.report.figures import null


def draw_null(*networks):
    return draw(null, make_study(audit=make_audit(*networks)))


def observed(axes):
    verticals = [line for line in axes.lines if len(set(line.get_xdata())) == 1]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in verticals]


def test_a_panel_for_each_rule_that_has_a_null():
    figure = draw_null(
        make_network("bp"),
        make_network("dfa", null=make_null()),
        make_network("fa", null=make_null(word="generic")),
    )
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["dfa\nmixed", "fa\ngeneric"]


def test_a_row_for_each_seed_the_first_on_top():
    networks = [make_network("dfa", s, null=make_null(observed=0.1 * s)) for s in (1, 2, 3)]
    (axes,) = draw_null(*networks).axes
    assert sorted(observed(axes)) == [
        (pytest.approx(0.1), 2),
        (pytest.approx(0.2), 1),
        (pytest.approx(0.3), 0),
    ]
    labels = [
        (round(y), t.get_text())
        for y, t in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    ]
    assert labels == [(0, "seed 3"), (1, "seed 2"), (2, "seed 1")]


def test_seeds_that_differ_are_counted():
    words = ("specific", "mixed", "mixed")
    networks = [make_network("dfa", s, null=make_null(word=w)) for s, w in enumerate(words)]
    (axes,) = draw_null(*networks).axes
    assert axes.get_title(loc="left") == "dfa\n2 mixed, 1 specific"


def test_the_bars_count_the_draws():
    (axes,) = draw_null(make_network("dfa", null=make_null([0.0] * 3 + [1.0] * 6, 0.5))).axes
    (steps,) = [patch for patch in axes.patches if isinstance(patch, StepPatch)]
    heights = np.asarray(steps.get_data().values)
    assert heights[0] == pytest.approx(heights[-1] / 2)
    assert set(heights[1:-1]) == {0}
    assert steps.get_data().edges[[0, -1]].tolist() == [pytest.approx(0), pytest.approx(1)]


@pytest.mark.parametrize(
    ("draws", "seen"),
    [([0.2] * 5, 0.2), ([0.1], 0.9), ([0.0, 1e-9], None), ([0.0, 0.01], 1.0)],
)
def test_draws_that_hardly_vary_are_drawn(draws, seen):
    (axes,) = draw_null(make_network("dfa", null=make_null(draws, seen))).axes
    (steps,) = [patch for patch in axes.patches if isinstance(patch, StepPatch)]
    widths = np.diff(steps.get_data().edges)
    assert (widths > 0).all()
    assert max(steps.get_data().values) > 0
    assert len(observed(axes)) == (seen is not None)


def test_a_study_without_an_audit_is_told_how_to_get_one():
    study = make_study(make_run())
    assert null.missing(study) == (
        "has no audit, so there is no null calibration to draw; `depthgauge audit` makes one"
    )


@pytest.mark.parametrize(
    "network", [make_network(), make_network(null=make_null([])), make_network(accuracy=None)]
)
def test_an_audit_without_draws_has_nothing_to_draw(network):
    study = make_study(audit=make_audit(network))
    assert "without null calibration" in (null.missing(study) or "")


def test_long_names_stay_within_the_figure():
    figure = lay_out(
        draw_null(*(make_network(f"{n}" + "W" * 60, null=make_null()) for n in range(3)))
    )
    assert all(
        0 <= a.get_tightbbox().x0 < a.get_tightbbox().x1 <= figure.bbox.x1 for a in figure.axes
    )
