"""The noise rule: as long as the gradient, and nothing of its direction."""

from __future__ import annotations

import torch
from torch.nn.functional import cosine_similarity

from depthgauge.rules.contract import Context
from depthgauge.rules.noise import Noise


def test_each_block_gets_another_direction_of_the_gradients_length_and_the_embedding_its_own():
    torch.manual_seed(1)
    states, gradient = [torch.zeros(500, 64)] * 4, [torch.randn(500, 64) for _ in range(4)]
    shape = Noise().noise_shape(states)
    noise = torch.randn(shape)
    context = Context(states, torch.zeros(500), {}, 0.0, {"gradient": gradient}, noise=noise)
    credit = Noise().credit(context)
    assert shape == (3, 500, 64)
    assert torch.equal(credit.embed, gradient[0])
    for block, (given, true, own) in enumerate(
        zip(credit.blocks, gradient[1:], noise, strict=True)
    ):
        assert torch.allclose(given.norm(dim=-1), true.norm(dim=-1)), block
        assert torch.allclose(cosine_similarity(given, own), torch.ones(500), atol=1e-5)
        assert cosine_similarity(given, true).mean().abs() < 4 / (500 * 64) ** 0.5


def test_a_dead_gradient_stays_dead():
    dead = [torch.zeros(6, 4)] * 3
    noise = torch.randn(2, 6, 4)
    quiet = Context(dead, torch.zeros(6), {}, 0.0, {"gradient": dead}, noise=noise)
    assert all(not given.any() for given in Noise().credit(quiet).blocks)


def test_its_direction_is_not_normalised():
    assert Noise().options.normalise == "none"
