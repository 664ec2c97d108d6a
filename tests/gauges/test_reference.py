"""D2: the norm of the true gradient, against autograd, finite differences and any batch size."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import cases, flat, make_batches, make_net, random, read
from hypothesis import given, settings
from oracles import gauges as oracle

from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.nets.stream_reader import StreamReader


@settings(max_examples=30)
@given(cases())
def test_against_a_loop_over_samples(case):
    reading = read(case.net, case.batches, ReferenceGauge())
    samples = flat(case.slow.samples(case.batches))
    norms = oracle.gradient_norms(samples)
    errors = [oracle.length(sample.error) for sample in samples]
    assert reading.per_layer == pytest.approx(norms, rel=1e-8, abs=0)
    assert reading.value == pytest.approx(norms[-1], rel=1e-8, abs=0)
    assert reading.over_error == pytest.approx(oracle.error_share(samples), rel=1e-8, abs=0)
    assert reading.error == pytest.approx(oracle.lower_median(errors), rel=1e-8, abs=0)


@settings(max_examples=20)
@given(cases())
def test_every_gradient_is_that_of_the_loop(case):
    net = StreamReader(case.net)
    for (x, y), samples in zip(case.batches, case.slow.samples(case.batches), strict=True):
        seen = net.see(x, y)
        for layer, gradient in enumerate(seen.gradients):
            expected = torch.stack([sample.gradients[layer] for sample in samples])
            assert (gradient - expected).norm() <= 1e-9 * expected.norm()
        expected = torch.stack([sample.error for sample in samples])
        assert (seen.error - expected).norm() <= 1e-9 * expected.norm()
        assert seen.losses.tolist() == pytest.approx([sample.loss for sample in samples], rel=1e-9)


@pytest.mark.parametrize("residual_add", [True, False])
def test_the_gradient_of_four_blocks_against_central_differences(residual_add):
    net = make_net(blocks=4, dtype=torch.float64, residual_add=residual_add)
    slow = oracle.SlowNet(net)
    ((x, y),) = make_batches(3, dtype=torch.float64)
    seen = StreamReader(net).see(x, y)
    step = 1e-5
    for layer in range(5):
        for number, label in enumerate(y.tolist()):
            state = seen.states[layer][number]
            slopes = [
                slow.loss_from(state + step * e, layer, label)
                - slow.loss_from(state - step * e, layer, label)
                for e in torch.eye(len(state), dtype=torch.float64)
            ]
            expected = torch.stack(slopes).detach() / (2 * step)
            found = seen.gradients[layer][number]
            assert (found - expected).norm() < 1e-6 * expected.norm()


def test_the_batch_size_does_not_matter():
    net = make_net(width=32, blocks=4)
    ((x, y),) = make_batches(1280)
    readings = [
        read(net, list(zip(x.split(size), y.split(size), strict=True)), ReferenceGauge())
        for size in (32, 128, 1280)
    ]
    for reading in readings[1:]:
        assert reading.per_layer == pytest.approx(readings[0].per_layer, rel=1e-5, abs=0)
        assert reading.over_error == pytest.approx(readings[0].over_error, rel=1e-5, abs=0)


def test_the_published_convention_is_beside_ours():
    reading = read(make_net(), make_batches(16), ReferenceGauge())
    assert reading.per_layer_n128 == tuple(norm / 128 for norm in reading.per_layer)


def test_without_a_way_back_the_gradient_is_exactly_zero_and_it_is_said():
    net = make_net()
    with torch.no_grad():
        net.out_head.weight.zero_()
    reading = read(net, make_batches(8), ReferenceGauge())
    assert reading.per_layer == (0.0, 0.0, 0.0, 0.0)
    assert (reading.value, reading.over_error) == (0.0, 0.0)
    assert reading.error > 0.1
    assert "exactly zero" in reading.note


def test_the_share_of_the_error_does_not_fall_with_confidence():
    """Louder logits: the error of a sample shrinks, what comes through of it does not."""
    net = make_net(width=16, dtype=torch.float64)
    x = random(64, 6, dtype=torch.float64)
    before = read(net, [(x, net(x).argmax(1))], ReferenceGauge())
    with torch.no_grad():
        net.out_head.weight.mul_(30)
        net.out_head.bias.mul_(30)
    after = read(net, [(x, net(x).argmax(1))], ReferenceGauge())
    assert after.error < 0.01 * before.error
    assert 10 < after.over_error / before.over_error < 100
