"""D1 and D2 over training, from the lines of a run's metrics."""

from __future__ import annotations

import math

import pytest
import torch
from gauges.small_networks import make_batches, make_net, read, stream_times

from depthgauge.gauges.cohort_readings import norms_of_runs
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.tasks.base import Split
from depthgauge.verdict.first_fired import EpochReadings, first_fired, readings_from_metrics
from depthgauge.verdict.thresholds import Thresholds


def line(epoch: int, h: list[float | None], g: list[float | None], **others) -> dict:
    start = {"epoch": epoch, "train_loss": 0.5, "h_norm": h, "g_norm": g, "diverged": False}
    return start | others


def after(epoch: int, growth: float, gradient: float, share: float | None) -> EpochReadings:
    values = {"growth": growth, "gradient": gradient, "error_share": share}
    return EpochReadings(epoch, values)


def healthy(epoch: int) -> EpochReadings:
    return after(epoch, 2.0, 1e-2, 1e-1)


def test_a_line_of_metrics_gives_growth_gradient_and_share():
    lines = [
        line(0, [2.0, 3.0, 12.0], [0.3, 0.2, 0.1], g_over_e=0.25),
        line(1, [2.0, 10.0, 12.0], [0.3, 0.2, 1e-7], g_over_e=1e-6),
    ]
    assert readings_from_metrics(lines) == [
        after(0, 4.0, 0.1, 0.25),
        after(1, 5.0, 1e-7, 1e-6),
    ]


@pytest.mark.parametrize("factor", [1.0, 1e6])
def test_readings_of_a_cohort_are_those_of_the_gauges(factor):
    net = stream_times(make_net(), factor)
    ((x, y),) = make_batches(50)
    (norms,) = norms_of_runs(StackedResidualMLP([net], [0], [3]), Split(x, y), CrossEntropy())
    (found,) = readings_from_metrics([{"epoch": 4, "diverged": False, **norms}])
    scale, reference = read(net, [(x, y)], ScaleGauge()), read(net, [(x, y)], ReferenceGauge())
    assert found.epoch == 4
    assert found.values["growth"] == pytest.approx(scale.value, rel=1e-5)
    assert found.values["gradient"] == pytest.approx(reference.value, rel=1e-4)
    assert found.values["error_share"] == pytest.approx(reference.over_error, rel=1e-4)
    assert first_fired([found]) == {"D1": None, "D2": 4 if factor > 1 else None}


def test_older_runs_without_the_share_have_growth_but_no_d2():
    readings = readings_from_metrics([line(3, [1.0, 1000.0], [1e-9, 1e-9])])
    assert readings == [after(3, 1000.0, 1e-9, None)]
    assert first_fired(readings) == {"D1": 3}


def test_growth_is_that_of_the_scale_gauge_and_unbounded_where_not_finite():
    for norms, growth in [
        ([1.0, 4.0, 2.0], 4.0),
        ([1.0, 4.0, None], math.inf),
        ([None, None, None], math.inf),
        ([0.0, 5.0, 10.0], math.inf),
        ([5.0, 0.0, 0.0], 0.0),
        ([7.0], 0.0),
    ]:
        (found,) = readings_from_metrics([line(0, norms, [0.1], g_over_e=0.1)])
        assert found.values["growth"] == growth


def test_a_run_that_diverged_keeps_what_fired_before_and_fires_the_rest():
    lines = [
        line(0, [1.0, 2.0], [0.1, 0.1], g_over_e=0.1),
        line(1, [1.0, 90.0], [0.1, 0.1], g_over_e=0.1),
        line(2, [None, None], [None, None], g_over_e=None, diverged=True),
        line(3, [None, None], [None, None], diverged=True),
    ]
    readings = readings_from_metrics(lines)
    assert readings[2] == after(2, math.inf, 0.0, 0.0)
    assert first_fired(readings) == {"D1": 1, "D2": 2}


def test_a_diagnostic_that_never_fires_has_no_epoch():
    assert first_fired([healthy(0), healthy(1)]) == {"D1": None, "D2": None}


def test_a_diagnostic_without_readings_is_left_out():
    for growth, gradient, share, names in [
        (99.0, 1e-9, None, {"D1"}),
        (99.0, 1e-9, 1e-9, {"D1", "D2"}),
    ]:
        fired = first_fired([after(2, growth, gradient, share)])
        assert fired == dict.fromkeys(names, 2)


def test_the_first_epoch_counts_even_if_the_network_recovers():
    readings = [
        healthy(0),
        after(1, 60.0, 1e-2, 1e-1),
        after(2, 2.0, 1e-6, 1e-6),
        after(3, 70.0, 1e-8, 1e-8),
        healthy(4),
    ]
    assert first_fired(readings) == {"D1": 1, "D2": 2}
    assert first_fired(iter(readings)) == {"D1": 1, "D2": 2}


def test_d2_needs_both_readings_below_their_floors():
    for gradient, share, fires in [
        (1e-6, 1e-6, True),
        (1e-6, 1e-1, False),
        (1e-2, 1e-6, False),
        (0.0, 0.0, True),
        (1.28e-5, 1e-6, False),
        (1e-6, 1.4e-5, False),
    ]:
        assert first_fired([after(5, 1.0, gradient, share)])["D2"] == (5 if fires else None)


def test_d1_fires_above_its_threshold():
    for growth, fires in [(50.0, False), (50.1, True), (torch.inf, True)]:
        assert first_fired([after(0, growth, 1.0, 1.0)])["D1"] == (0 if fires else None)


def test_given_thresholds_are_used():
    moved = Thresholds(growth=1.5, gradient=1.0, error_share=1.0)
    assert first_fired([healthy(9)], moved) == {"D1": 9, "D2": 9}
