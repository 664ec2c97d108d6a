"""ρ: the correlation of predicted and measured changes of the loss."""

from __future__ import annotations

import math

import pytest
import torch
from gauges.small_networks import (
    cases,
    make_batches,
    make_net,
    random_credit,
    read,
    stream_times,
    true_gradients,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import gauges as oracle

from depthgauge.gauges.perturbation import PerturbationGauge

DIRECTIONS = 5


@settings(max_examples=12)
@given(cases(largest=4), st.sampled_from(["depthgauge", "published"]))
def test_against_a_loop_over_samples_and_directions(case, convention):
    gauge = PerturbationGauge(case.credit, convention, directions=DIRECTIONS)
    reading = read(case.net, case.batches, gauge)
    slow = case.slow
    credit = oracle.direct_feedback(case.feedback, "depthgauge")
    samples = slow.samples(case.batches)
    layers = oracle.perturbation(slow, samples, credit, convention, DIRECTIONS)
    assume(not any(map(math.isnan, layers)))
    assert reading.per_layer == pytest.approx(layers, rel=1e-6, abs=1e-6)
    assert reading.value == pytest.approx(oracle.mean(layers[1:]), rel=1e-6, abs=1e-6)
    assert reading.convention.startswith(f"{convention}; 5 directions")


@pytest.mark.parametrize(
    ("convention", "residual_add", "w2_std"),
    [
        ("depthgauge", True, 0.01),
        ("depthgauge", False, 2.0),
        ("published", True, 2.0),
        ("published", False, 0.01),
    ],
)
def test_the_true_gradient_foretells_everything(convention, residual_add, w2_std):
    net = make_net(width=32, residual_add=residual_add, w2_std=w2_std)
    reading = read(net, make_batches(32), PerturbationGauge(true_gradients, convention))
    assert min(reading.per_layer) > 0.999


def test_vectors_that_know_nothing_foretell_nothing():
    reading = read(make_net(width=32), make_batches(256), PerturbationGauge(random_credit))
    assert reading.per_layer == pytest.approx([0.0] * 4, abs=0.05)
    assert reading.per_layer != pytest.approx([0.0] * 4, abs=1e-6)


@pytest.mark.parametrize("factor", [1e3, 1e6, 1e9])
def test_a_large_stream_does_not_drown_the_change(factor):
    """In float32 the change of the loss would be rounding beyond ‖h‖ of about 1e3."""
    net = stream_times(make_net(), factor)
    reading = read(net, make_batches(32), PerturbationGauge(true_gradients))
    assert min(reading.per_layer) > 0.999


def test_enough_samples_are_enough():
    first, second, third = make_batches(6, 6, 6)
    gauge = PerturbationGauge(true_gradients, samples=10)
    reading = read(make_net(), [first, second, third], gauge)
    assert reading.measured_on == "12 samples in 2 batches"
    two = read(make_net(), [first, second], PerturbationGauge(true_gradients))
    assert reading.per_layer == two.per_layer


def test_a_credit_of_zero_foretells_nothing_and_is_undefined():
    def credit(batch):
        return [torch.zeros_like(state) for state in batch.states]

    reading = read(make_net(), make_batches(4), PerturbationGauge(credit))
    assert reading.value is None
    assert reading.per_layer == (None,) * 4
    assert "undefined" in reading.note


def test_the_global_random_state_is_left_alone():
    before = torch.get_rng_state()
    read(make_net(), make_batches(4), PerturbationGauge(true_gradients))
    assert torch.equal(torch.get_rng_state(), before)
