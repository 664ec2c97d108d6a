"""Where gradients all but vanish: cosines stay right, and D2 tells dead from confident."""

from __future__ import annotations

import copy

import pytest
import torch
from gauges.small_networks import (
    fires,
    flat,
    make_batches,
    make_net,
    read,
    stream_times,
    true_gradients,
    turned_gradients,
)
from oracles import gauges as oracle
from torch import nn

from depthgauge.gauges.alignment import AlignmentGauge
from depthgauge.gauges.numerics import NumericsGauge
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.gauges.scale import ScaleGauge
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.tasks.digits import load_digits
from depthgauge.verdict.thresholds import Thresholds

FLOORS = [(1e6, 1.0), (1e10, 1.0), (1e15, 1.0), (1.0, 1e-6), (1.0, 1e-15), (1e5, 1e-25)]
"""How much the stream is blown up and the readout turned down: gradients of 1e-6 … 1e-30."""


def faint(stream: float, head: float) -> ResidualMLP:
    """A network in float32 whose last gradient is about head/stream."""
    net = stream_times(make_net(width=32), stream)
    with torch.no_grad():
        net.out_head.weight.mul_(head)
    return net


def d2(net: ResidualMLP, batches) -> bool:
    """Whether D2 fires, numerics and all."""
    reference = read(net, batches, ReferenceGauge())
    numerics = read(net, batches, NumericsGauge()).value
    return fires(reference.value, reference.over_error, numerics)


at_every_floor = pytest.mark.parametrize(("stream", "head"), FLOORS)


@at_every_floor
def test_the_gradient_has_that_size_and_is_read_rightly(stream, head):
    net, batches = faint(stream, head), make_batches(32, 32)
    reading = read(net, batches, ReferenceGauge())
    expected = oracle.gradient_norms(flat(oracle.SlowNet(net).samples(batches)))
    assert 0.1 < reading.value * stream / head < 10
    assert reading.per_layer == pytest.approx(expected, rel=1e-4, abs=0)
    assert read(net, batches, NumericsGauge()).value > 0.9999


@at_every_floor
def test_a_vector_is_aligned_with_itself(stream, head):
    reading = read(faint(stream, head), make_batches(32, 32), AlignmentGauge(true_gradients))
    assert reading.per_layer == pytest.approx([1.0] * 4, abs=1e-6)
    assert reading.undefined == (0, 0, 0, 0)


@at_every_floor
def test_the_exact_gradient_is_aligned_with_the_measured_one(stream, head):
    net, batches = faint(stream, head), make_batches(16)
    (samples,) = oracle.SlowNet(net).samples(batches)
    exact = [torch.stack(layer) for layer in zip(*(s.gradients for s in samples), strict=True)]
    reading = read(net, batches, AlignmentGauge(lambda batch: exact))
    assert reading.per_layer == pytest.approx([1.0] * 4, abs=1e-6)


@at_every_floor
def test_orthogonal_vectors_are_not_aligned(stream, head):
    reading = read(faint(stream, head), make_batches(32, 32), AlignmentGauge(turned_gradients))
    assert reading.per_layer == pytest.approx([0.0] * 4, abs=1e-6)


def test_a_vanished_gradient_fires_d2():
    assert not d2(make_net(width=32), make_batches(64))
    assert all(d2(faint(*floor), make_batches(64)) for floor in ((1e10, 1.0), (1.0, 1e-10)))


@pytest.mark.parametrize("gap", [20.0, 45.0, 200.0])
def test_a_very_confident_sample_is_pushed_away_from_its_label(gap):
    """−log p is log(1 + Σ exp(z_j − z_y)): where p rounds to 1, its gradient is still exact."""
    net = make_net(classes=3, dtype=torch.float64)
    with torch.no_grad():
        net.out_head.bias.copy_(torch.tensor([gap, 0.0, 0.0]))
    x, y = make_batches(8, dtype=torch.float64)[0][0], torch.zeros(8, dtype=torch.long)
    seen = StreamReader(net).see(x, y)
    for number in range(8):
        logits = seen.logits[number].clone().requires_grad_()
        others = torch.exp(logits[1:] - logits[0]).sum()
        (exact,) = torch.autograd.grad(torch.log1p(others), logits)
        assert oracle.cosine(seen.error[number], exact) == pytest.approx(1.0, abs=1e-6)
        assert oracle.length(seen.error[number]) == pytest.approx(oracle.length(exact), rel=1e-6)


def test_a_gradient_of_exactly_zero_is_undefined_and_fires_d2():
    net, batches = make_net(), make_batches(32)
    nn.init.zeros_(net.out_head.weight)
    alignment = read(net, batches, AlignmentGauge(true_gradients))
    assert alignment.per_layer == (None,) * 4
    assert (alignment.value, alignment.over_all) == (None, None)
    assert alignment.undefined == (32,) * 4
    assert "undefined" in alignment.note
    reference, floors = read(net, batches, ReferenceGauge()), Thresholds()
    assert reference.value < floors.gradient
    assert reference.over_error < floors.error_share
    assert d2(net, batches)


@pytest.fixture(scope="module")
def digits():
    return load_digits()


@pytest.fixture(scope="module")
def trained(digits):
    """Backpropagation on the digits until it is sure of itself."""
    x, y = digits.train.x, digits.train.y
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = ResidualMLP(digits.input_dim, 64, digits.num_classes, 2)
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.02, weight_decay=0.0)
        for _ in range(60):
            for chosen in torch.randperm(len(y)).split(128):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x[chosen]), y[chosen]).backward()
                optimizer.step()
    return net.requires_grad_(False)


def shown(task) -> list[tuple[torch.Tensor, torch.Tensor]]:
    held = task.evaluation
    return list(zip(held.x.split(50), held.y.split(50), strict=True))


def test_a_confident_and_healthy_network_does_not_fire_d2(trained, digits):
    answers = trained(digits.train.x).argmax(1)
    assert (answers == digits.train.y).double().mean() >= 0.99
    reading = read(trained, shown(digits), ReferenceGauge())
    assert reading.value < Thresholds().gradient, "the published floor alone would flag it"
    assert reading.over_error > 0.1
    assert not d2(trained, shown(digits))


def test_the_same_network_with_its_stream_blown_up_fires_d2(trained, digits):
    blown_up = stream_times(copy.deepcopy(trained), 1e6)
    x = digits.evaluation.x
    assert (blown_up(x) - trained(x)).abs().max() < 0.01 * trained(x).abs().max()
    assert d2(blown_up, shown(digits))
    growth = [read(net, shown(digits), ScaleGauge()).value for net in (trained, blown_up)]
    assert growth[0] == pytest.approx(growth[1], rel=1e-2), "D1 does not see it"
