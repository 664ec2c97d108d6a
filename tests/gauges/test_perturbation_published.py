"""ρ as it was published: at the blocks' inputs, in the network's own precision."""

from __future__ import annotations

import math

import pytest
from gauges.small_networks import (
    cases,
    make_batches,
    make_net,
    read,
    stream_times,
    true_gradients,
)
from hypothesis import assume, given, settings
from oracles import gauges as oracle

from depthgauge.gauges.perturbation import DIRECTIONS, PerturbationGauge
from depthgauge.gauges.perturbation_published import PublishedPerturbation


@settings(max_examples=6)
@given(cases(largest=3))
def test_in_float64_it_is_a_loop_over_samples_with_the_published_pairing(case):
    reading = read(case.net, case.batches, PublishedPerturbation(case.credit))
    slow = case.slow
    credit = oracle.direct_feedback(case.feedback, "published")
    samples = slow.samples(case.batches)
    layers = oracle.perturbation(slow, samples, credit, "published", DIRECTIONS)
    assume(not any(map(math.isnan, layers)))
    assert reading.per_layer == pytest.approx(layers, rel=1e-6, abs=1e-6)
    assert reading.value == pytest.approx(oracle.mean(layers[1:]), rel=1e-6, abs=1e-6)


def test_in_float32_a_large_stream_drowns_the_change():
    """What the published figures suffer from, and ours do not."""
    net, batches = stream_times(make_net(), 1e4), make_batches(64)
    published = read(net, batches, PublishedPerturbation(true_gradients))
    assert published.per_layer[-1] < 0.9
    assert "not in float64" in published.convention
    assert read(net, batches, PerturbationGauge(true_gradients)).per_layer[-1] > 0.999


def test_in_float32_the_last_gradient_foretells_where_the_stream_is_small():
    published = read(make_net(), make_batches(64), PublishedPerturbation(true_gradients))
    assert published.per_layer[-1] > 0.99
