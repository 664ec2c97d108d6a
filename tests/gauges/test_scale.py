"""D1: the growth of the stream, against a loop over samples and by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from gauges.small_networks import cases, flat, make_batches, make_net, read, stream_times
from hypothesis import given, settings
from oracles import gauges as oracle

from depthgauge.gauges.scale import ScaleGauge


@settings(max_examples=30)
@given(cases())
def test_against_a_loop_over_samples(case):
    reading = read(case.net, case.batches, ScaleGauge())
    norms = oracle.residual_norms(flat(case.slow.samples(case.batches)))
    growth = [after / before for before, after in pairwise(norms)]
    assert reading.residual_norms == pytest.approx(norms, rel=1e-9, abs=0)
    assert reading.per_layer == pytest.approx(growth, rel=1e-9, abs=0)
    assert reading.value == pytest.approx(max(growth), rel=1e-9, abs=0)


def test_it_is_the_ratio_of_medians_at_the_steepest_block():
    net = make_net(blocks=3)
    with torch.no_grad():
        net.blocks[1].fc2.weight.mul_(1000)
    reading = read(net, make_batches(64), ScaleGauge())
    assert reading.value == reading.per_layer[1] > 100
    assert max(reading.per_layer[0], reading.per_layer[2]) < 10


def test_the_unit_of_the_stream_does_not_matter():
    before = read(make_net(), make_batches(32), ScaleGauge())
    after = read(stream_times(make_net(), 1e6), make_batches(32), ScaleGauge())
    assert after.per_layer == pytest.approx(before.per_layer, rel=1e-3)
    assert after.residual_norms == pytest.approx([1e6 * n for n in before.residual_norms], rel=1e-3)


def test_a_stream_of_exactly_zero_has_no_growth():
    reading = read(stream_times(make_net(), 0.0), make_batches(8), ScaleGauge())
    assert reading.value is None
    assert reading.per_layer == (None, None, None)
    assert "exactly zero" in reading.note


def test_a_stream_that_begins_at_zero_grows_without_bound():
    net = make_net()
    with torch.no_grad():
        net.embed.weight.zero_()
        net.embed.bias.zero_()
    assert read(net, make_batches(8), ScaleGauge()).value == float("inf")


def test_it_says_what_it_was_measured_on():
    assert read(make_net(), make_batches(700, 500), ScaleGauge()).measured_on == (
        "1,200 samples in 2 batches"
    )
