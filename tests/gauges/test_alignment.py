"""Γ: the cosine of the credit with the true gradient, layer by layer."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import (
    cases,
    flat,
    make_batches,
    make_net,
    random_credit,
    read,
    true_gradients,
    turned_gradients,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import gauges as oracle

from depthgauge.gauges.alignment import AlignmentGauge


@settings(max_examples=30)
@given(cases(), st.sampled_from(["depthgauge", "published"]))
def test_direct_feedback_against_a_loop_over_samples(case, convention):
    reading = read(case.net, case.batches, AlignmentGauge(case.credit, convention))
    credit = oracle.direct_feedback(case.feedback, convention)
    layers = oracle.alignment(flat(case.slow.samples(case.batches)), credit)
    assert reading.per_layer == pytest.approx(layers, rel=1e-6, abs=1e-9)
    assert reading.value == pytest.approx(oracle.mean(layers[1:]), rel=1e-6, abs=1e-9)
    assert reading.over_all == pytest.approx(oracle.mean(layers), rel=1e-6, abs=1e-9)
    assert reading.undefined == (0,) * len(layers)
    assert reading.convention.startswith(convention)


@settings(max_examples=10)
@given(cases())
def test_the_true_gradient_is_aligned_with_itself(case):
    reading = read(case.net, case.batches, AlignmentGauge(true_gradients))
    assert reading.per_layer == pytest.approx([1.0] * len(reading.per_layer), abs=1e-9)


def test_against_the_gradient_and_at_a_right_angle_to_it():
    net, batches = make_net(), make_batches(32)
    against = AlignmentGauge(lambda batch: [-g for g in batch.gradients])
    assert read(net, batches, against).per_layer == pytest.approx([-1.0] * 4)
    turned = read(net, batches, AlignmentGauge(turned_gradients))
    assert turned.per_layer == pytest.approx([0.0] * 4, abs=1e-12)


def test_vectors_that_know_nothing_are_not_aligned():
    reading = read(make_net(width=64), make_batches(1280), AlignmentGauge(random_credit))
    assert reading.per_layer == pytest.approx([0.0] * 4, abs=0.02)
    assert reading.per_layer != pytest.approx([0.0] * 4, abs=1e-6)


def test_the_length_of_the_credit_does_not_matter():
    net, batches = make_net(), make_batches(32)
    plain = read(net, batches, AlignmentGauge(random_credit)).per_layer
    for factor in (1e-30, 1e30):
        scaled = AlignmentGauge(lambda b, f=factor: [f * a for a in random_credit(b)])
        assert read(net, batches, scaled).per_layer == pytest.approx(plain, rel=1e-5)


def test_a_credit_of_exactly_zero_is_left_out_of_the_mean_and_counted():
    def credit(batch):
        gradients = [gradient.clone() for gradient in batch.gradients]
        gradients[2][:3] = 0
        return gradients

    reading = read(make_net(), make_batches(8, 8), AlignmentGauge(credit))
    assert reading.per_layer == pytest.approx([1.0] * 4)
    assert reading.undefined == (0, 0, 6, 0)


def test_where_every_credit_is_zero_the_layer_is_undefined_and_so_is_the_mean():
    def credit(batch):
        return [*batch.gradients[:-1], torch.zeros_like(batch.states[-1])]

    reading = read(make_net(), make_batches(8), AlignmentGauge(credit))
    assert reading.per_layer[:-1] == pytest.approx([1.0] * 3)
    assert reading.per_layer[-1] is None
    assert (reading.value, reading.over_all) == (None, None)
    assert "undefined" in reading.note
