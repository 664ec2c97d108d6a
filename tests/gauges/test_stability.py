"""D2s: the agreement of the batch-mean gradients of different batches."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import cases, make_batches, make_net, read
from hypothesis import given, settings
from oracles import gauges as oracle
from torch import nn

from depthgauge.gauges.stability import StabilityGauge


@settings(max_examples=20)
@given(cases(batches=(8, 9), largest=3))
def test_against_a_loop_over_samples(case):
    reading = read(case.net, case.batches, StabilityGauge())
    expected = oracle.stability(case.slow.samples(case.batches))
    assert reading.value == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert f"layer {len(case.net.blocks) // 2}," in reading.convention


def test_the_same_batch_again_and_again_is_perfectly_stable():
    assert read(make_net(), make_batches(16) * 8, StabilityGauge()).value == pytest.approx(1.0)


def test_batches_that_push_opposite_ways_are_seen():
    """Eight batches, four of each class, one sample: 12 pairs agree, 16 are opposed."""
    net = make_net(classes=2)
    x = make_batches(1)[0][0]
    batches = [(x, torch.tensor([number % 2])) for number in range(8)]
    assert read(net, batches, StabilityGauge()).value == pytest.approx((12 - 16) / 28, abs=1e-6)


def test_fewer_than_eight_batches_are_not_enough():
    seven = read(make_net(), make_batches(*[4] * 7), StabilityGauge())
    assert seven.value is None
    assert "needs at least 8 batches, was given 7" in seven.note
    assert read(make_net(), make_batches(*[4] * 8), StabilityGauge()).value is not None


def test_a_gradient_of_exactly_zero_has_no_direction():
    net = make_net()
    nn.init.zeros_(net.out_head.weight)
    reading = read(net, make_batches(*[4] * 8), StabilityGauge())
    assert reading.value is None
    assert "exactly zero" in reading.note


def test_tiny_gradients_are_compared_like_large_ones():
    for scale in [1e-10, 1e-15, 1e-30]:
        net, batches = make_net(), make_batches(*[4] * 8)
        with torch.no_grad():
            net.out_head.weight.mul_(scale)
        expected = oracle.stability(oracle.SlowNet(net).samples(batches))
        assert abs(expected) > 0.01
        assert read(net, batches, StabilityGauge()).value == pytest.approx(expected, rel=1e-4)
