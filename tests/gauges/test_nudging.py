"""Nudging: what a small step against the credit does to the loss."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import cases, flat, make_batches, make_net, read, true_gradients
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import gauges as oracle

from depthgauge.gauges.nudging import NudgingGauge


@settings(max_examples=25)
@given(cases(), st.sampled_from(["depthgauge", "published"]))
def test_against_a_loop_over_samples(case, convention):
    reading = read(case.net, case.batches, NudgingGauge(case.credit, convention))
    slow = case.slow
    credit = oracle.direct_feedback(case.feedback, "depthgauge")
    samples = flat(slow.samples(case.batches))
    changes = oracle.nudging(slow, samples, credit, convention)
    means = [oracle.mean(layer) for layer in changes]
    assert reading.per_layer == pytest.approx(means, rel=1e-6, abs=1e-12)
    assert reading.value == pytest.approx(oracle.mean(means[1:]), rel=1e-6, abs=1e-12)
    fell = [sum(change < 0 for change in layer) / len(layer) for layer in changes]
    assert reading.fell == pytest.approx(fell, abs=1e-12)
    assert reading.convention.startswith(convention)


def test_against_the_true_gradient_the_loss_falls_by_eta_times_its_norm():
    net, batches = make_net(dtype=torch.float64), make_batches(32, dtype=torch.float64)
    reading = read(net, batches, NudgingGauge(true_gradients, "published"))
    samples = flat(oracle.SlowNet(net).samples(batches))
    for layer, change in enumerate(reading.per_layer):
        norms = [oracle.length(sample.gradients[layer]) for sample in samples]
        assert change == pytest.approx(-0.01 * oracle.mean(norms), rel=0.02)
    assert reading.fell == (1.0,) * 4


def test_along_the_true_gradient_the_loss_rises():
    gauge = NudgingGauge(lambda batch: [-g for g in batch.gradients])
    reading = read(make_net(), make_batches(32), gauge)
    assert min(reading.per_layer) > 0
    assert reading.fell == (0.0,) * 4


def test_the_length_of_the_credit_does_not_matter():
    for factor in [1e-30, 1e30]:
        net, batches = make_net(), make_batches(16)
        plain = read(net, batches, NudgingGauge(true_gradients))
        scaled = read(
            net, batches, NudgingGauge(lambda b, by=factor: [by * g for g in b.gradients])
        )
        assert scaled.per_layer == pytest.approx(plain.per_layer, rel=1e-9)


def test_a_credit_of_exactly_zero_points_nowhere_and_does_not_count():
    def credit(batch):
        gradients = [gradient.clone() for gradient in batch.gradients]
        gradients[1][:3] = 0
        gradients[2].zero_()
        return gradients

    net, ((x, y),) = make_net(dtype=torch.float64), make_batches(8, dtype=torch.float64)
    reading = read(net, [(x, y)], NudgingGauge(credit))
    rest = read(net, [(x[3:], y[3:])], NudgingGauge(true_gradients))
    assert reading.per_layer[1] == pytest.approx(rest.per_layer[1], rel=1e-9)
    assert reading.per_layer[2] is None
    assert reading.fell == (1.0, 1.0, None, 1.0)
    assert reading.value is None
    assert "undefined" in reading.note


def test_enough_samples_are_enough():
    first, second, third = make_batches(6, 6, 6)
    reading = read(make_net(), [first, second, third], NudgingGauge(true_gradients, samples=10))
    assert reading.measured_on == "12 samples in 2 batches"
    two = read(make_net(), [first, second], NudgingGauge(true_gradients))
    assert reading.per_layer == two.per_layer
