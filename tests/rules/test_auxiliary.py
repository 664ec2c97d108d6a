"""Small networks that rules train: what they see, what they compute, how they step."""

from __future__ import annotations

import math

import pytest
import torch
from gauges.small_networks import random
from oracles.bridges import perceptron, seen, weights_of, with_moments
from rules.rule_contexts import assert_same, assert_same_feedback

from depthgauge.rules.auxiliary import Auxiliary, Features, clocks, features, rms

NETWORK = Auxiliary("N")


def made(*sizes: int) -> dict[str, torch.Tensor]:
    """A network that has not learned yet, with a stranger beside it."""
    drawn = NETWORK.drawn(sizes, torch.Generator().manual_seed(2))
    own = {**drawn, **NETWORK.moments(drawn)}
    return {name: tensor.double() for name, tensor in own.items()} | {"NN.0.weight": torch.ones(1)}


def test_it_is_linears_with_gelu_between_them():
    for sizes in [(5, 3), (5, 7, 3), (5, 7, 6, 1)]:
        feedback, x = made(*sizes), random(4, 5, dtype=torch.float64)
        parameters = NETWORK.parameters(feedback)
        assert len(parameters) == 2 * (len(sizes) - 1)
        expected = perceptron(feedback, "N")(x).detach()
        assert_same([NETWORK(parameters, x)], [expected], 1e-14)
        in_two_parts = Features(x[:, :3], x[:, 3:])
        assert_same([NETWORK.of_features(parameters, in_two_parts)], [expected], 1e-14)


def test_streams_that_share_what_is_beside_them_are_seen_as_if_each_had_its_own():
    parameters = NETWORK.parameters(made(5, 7, 1))
    streams, beside = random(2, 4, 3, dtype=torch.float64), random(4, 2, dtype=torch.float64)
    apart = [NETWORK.of_features(parameters, Features(own, beside)) for own in streams]
    together = NETWORK.of_features(parameters, Features(streams, beside))
    assert_same([together], [torch.stack(apart)], 1e-14)


def test_its_weights_are_drawn_as_pytorch_draws_them():
    drawn = NETWORK.drawn([100, 80, 30], torch.Generator().manual_seed(2))
    for layer, inputs in enumerate((100, 80)):
        weight, bias = drawn[f"N.{layer}.weight"], drawn[f"N.{layer}.bias"]
        assert max(weight.abs().max(), bias.abs().max()) <= 1 / math.sqrt(inputs)
        assert float(weight.std()) == pytest.approx(1 / math.sqrt(3 * inputs), rel=0.03)
        assert bias.any()


def test_its_steps_are_those_of_adam():
    feedback, x = made(5, 7, 3), random(4, 5, dtype=torch.float64)
    slow = perceptron(feedback, "N")
    adam = torch.optim.Adam(slow.parameters(), lr=0.02)
    for step in range(5):
        target = random(4, 3, seed=step, dtype=torch.float64)
        adam.zero_grad()
        (slow(x) - target).square().sum().backward()
        gradients = {name: weight.grad.clone() for name, weight in weights_of("N", slow).items()}
        feedback |= NETWORK.adam(feedback, gradients, 0.02)
        adam.step()
    stranger = feedback.pop("NN.0.weight")
    assert stranger.tolist() == [1.0]
    assert_same_feedback(feedback, with_moments("N", slow, adam))


def test_a_step_leaves_the_feedback_it_was_given_alone():
    feedback = made(5, 3)
    before = {name: tensor.clone() for name, tensor in feedback.items()}
    gradients = {name: torch.ones_like(t) for name, t in NETWORK.parameters(feedback).items()}
    changed = NETWORK.adam(feedback, gradients, 0.1)
    assert changed["steps.N"] == 1
    for name, tensor in before.items():
        assert torch.equal(feedback[name], tensor)


def test_features_are_the_streams_direction_the_time_its_waves_and_the_signal():
    for frequencies in [0, 1, 4]:
        stream, signal = (random(3, size, seed=size, dtype=torch.float64) for size in (6, 4))
        times = [0.0, 0.25, 1.0]
        clock = torch.tensor(times, dtype=torch.float64).unsqueeze(1)
        expected = [
            seen(h, t, e, frequencies) for h, t, e in zip(stream, times, signal, strict=True)
        ]
        found = torch.cat(features(stream, clock, signal, frequencies), -1)
        assert_same([found], [torch.stack(expected)], 1e-14)


def test_copies_of_a_stream_at_one_time_have_the_same_beside_them():
    streams, signal = random(2, 3, 6), random(3, 4)
    seen_together = features(streams, 0.5, signal, 1)
    for stream, direction in zip(streams, seen_together.direction, strict=True):
        alone = features(stream, 0.5, signal, 1)
        assert torch.equal(direction, alone.direction)
        assert torch.equal(seen_together.beside, alone.beside)


def test_streams_at_times_of_their_own_have_each_its_own_beside_it():
    streams, signal, times = random(2, 3, 6), random(3, 4), [0.25, 1.0]
    found = features(streams, clocks(times, signal), signal, 2).beside
    apart = [features(h, t, signal, 2).beside for h, t in zip(streams, times, strict=True)]
    assert torch.equal(found, torch.stack(apart))


def test_the_size_of_a_stream_is_its_root_mean_square_and_never_zero():
    stream = torch.tensor([[3.0, -4.0], [3e9, -4e9], [0.0, 0.0]])
    found = rms(stream).squeeze(1)
    assert found[:2].tolist() == pytest.approx([12.5**0.5, 1e9 * 12.5**0.5])
    assert 0 < float(found[2]) < 1e-15
    assert not features(stream, 0.0, stream, 0).direction[2].any()
