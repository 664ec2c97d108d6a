"""How close a stack is to the identity, against obvious loops and cases known by heart."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from oracles.identity import identity_of_samples
from torch import Tensor

from depthgauge.gauges.identity import read_identity
from depthgauge.nets.contract import Trace
from depthgauge.nets.residual_mlp import ResidualMLP


def make_net(w2_std: float = 0.3, blocks: int = 3) -> ResidualMLP:
    torch.manual_seed(3)
    return ResidualMLP(6, 10, 4, blocks, w2_std=w2_std)


def samples(count: int = 20) -> Tensor:
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(1))


class Fixed:
    """A network that has already made up its mind what its stream is."""

    def __init__(self, *states: Tensor) -> None:
        branches = tuple(b - a for a, b in pairwise(states))
        self.made = Trace(states, branches, torch.zeros(len(states[0]), 2))

    def trace(self, x: Tensor) -> Trace:
        return self.made


def test_against_a_loop_over_samples():
    for w2_std in [0.01, 0.3, 3.0]:
        for count in [20, 21]:
            net = make_net(w2_std)
            reading = read_identity(net, samples(count))
            expected = identity_of_samples(net, samples(count))
            assert reading.per_block_ratio == pytest.approx(expected["per_block_ratio"], rel=1e-5)
            assert reading.rel_dev == pytest.approx(expected["rel_dev"], rel=1e-5)
            assert reading.cos == pytest.approx(expected["cos"], rel=1e-5)


def test_blocks_that_return_nothing_are_the_identity():
    net = make_net(w2_std=0.0)
    reading = read_identity(net, samples())
    assert reading.per_block_ratio == (0.0, 0.0, 0.0)
    assert reading.rel_dev == 0.0
    assert reading.cos == pytest.approx(1.0, abs=1e-12)


def test_the_scale_of_the_stream_does_not_matter():
    """(3, 4) → (3, 4) + (4, −3): the branch as long as the stream, at a right angle."""
    for scale in [1e-30, 1e-20, 1.0, 1e20, 1e30]:
        first = scale * torch.tensor([[3.0, 4.0]] * 5)
        second = scale * torch.tensor([[7.0, 1.0]] * 5)
        reading = read_identity(Fixed(first, second), samples(5))
        assert reading.per_block_ratio == pytest.approx((1.0,), rel=1e-6)
        assert reading.rel_dev == pytest.approx(1.0, rel=1e-6)
        assert reading.cos == pytest.approx(math.sqrt(0.5), rel=1e-6)


def test_cosines_known_by_heart():
    for last, cosine in [((2.0, 0.0), 1), ((0.0, 1.0), 0), ((-3.0, 0.0), -1)]:
        first = torch.tensor([[1.0, 0.0]] * 3)
        reading = read_identity(Fixed(first, torch.tensor([last] * 3)), samples(3))
        assert reading.cos == pytest.approx(cosine, abs=1e-12)


def test_every_block_is_read_against_its_own_input():
    first = torch.tensor([[1.0, 0.0]])
    reading = read_identity(Fixed(first, 2 * first, 6 * first), samples(1))
    assert reading.per_block_ratio == pytest.approx((1.0, 2.0))
    assert reading.rel_dev == pytest.approx(5.0)


def test_reading_leaves_the_network_and_the_random_state_alone():
    net = make_net().eval()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    torch.manual_seed(0)
    state = torch.get_rng_state()
    read_identity(net, samples())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert all(p.grad is None and p.requires_grad for p in net.parameters())
    assert not net.training
