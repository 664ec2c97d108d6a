"""A stream of any shape as (samples, positions, features)."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.gauges.norms import stream_norms
from depthgauge.nets.layout import Layout

N, D, T, H, W = 2, 3, 4, 5, 6


def stream(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_vectors():
    h = stream(N, D)
    assert torch.equal(Layout().arrange(h), h.view(N, 1, D))


def test_tokens():
    h = stream(N, T, D)
    assert torch.equal(Layout().arrange(h), h)


def test_tokens_before_samples():
    h = stream(T, N, D)
    arranged = Layout(sample_axis=1).arrange(h)
    assert arranged.shape == (N, T, D)
    for n, t in product(range(N), range(T)):
        assert torch.equal(arranged[n, t], h[t, n])


def test_images_have_their_channels_second():
    h = stream(N, D, H, W)
    arranged = Layout().arrange(h)
    assert arranged.shape == (N, H * W, D)
    for n, y, x in product(range(N), range(H), range(W)):
        assert torch.equal(arranged[n, y * W + x], h[n, :, y, x])


def test_images_with_channels_last():
    for axis in [3, -1]:
        h = stream(N, H, W, D)
        arranged = Layout(feature_axis=axis).arrange(h)
        assert torch.equal(arranged, h.view(N, H * W, D))


def test_sequences_with_channels_second():
    h = stream(N, D, T)
    assert torch.equal(Layout(feature_axis=1).arrange(h), h.transpose(1, 2))


def test_samples_may_be_counted_from_the_end():
    for axis in [1, -2]:
        h = stream(T, N, D)
        assert torch.equal(Layout(sample_axis=axis).arrange(h), h.transpose(0, 1))


def test_volumes_have_their_channels_second():
    h = stream(N, D, T, H, W)
    assert torch.equal(Layout().arrange(h), h.flatten(2).transpose(1, 2))


def test_one_token():
    for token in [0, 2, -1]:
        h = stream(N, T, D)
        assert torch.equal(Layout(token=token).arrange(h), h[:, [token]])
        assert torch.equal(
            Layout(sample_axis=1, token=token).arrange(h.transpose(0, 1)), h[:, [token]]
        )


def test_one_position_of_an_image():
    h = stream(N, D, H, W)
    assert torch.equal(Layout(token=W + 2).arrange(h)[:, 0], h[:, :, 1, 2])


def test_norms_are_over_features_and_averaged_over_positions():
    for layout, shape, norm_of in [
        (Layout(), (N, D), lambda h, n: [h[n]]),
        (Layout(), (N, T, D), lambda h, n: [h[n, t] for t in range(T)]),
        (Layout(token=1), (N, T, D), lambda h, n: [h[n, 1]]),
        (Layout(sample_axis=1), (T, N, D), lambda h, n: [h[t, n] for t in range(T)]),
        (Layout(), (N, D, 2, 3), lambda h, n: [h[n, :, y, x] for y in (0, 1) for x in (0, 1, 2)]),
        (Layout(feature_axis=3), (N, 2, 3, D), lambda h, n: [*h[n, 0], *h[n, 1]]),
    ]:
        layers = [stream(*shape), 3 * stream(*shape).flip(0)]
        norms = stream_norms(layers, layout)
        assert norms.shape == (2, N)
        for number, n in product(range(2), range(N)):
            vectors = norm_of(layers[number], n)
            sizes = [sum(float(value) ** 2 for value in vector) ** 0.5 for vector in vectors]
            assert norms[number, n].item() == pytest.approx(sum(sizes) / len(sizes), rel=1e-12)


def test_axes_that_are_not_there_are_named():
    for layout, shape, axes in [
        (Layout(sample_axis=3), (N, T, D), "sample axis 3 and feature axis -1"),
        (Layout(feature_axis=4), (N, T, D), "sample axis 0 and feature axis 4"),
        (Layout(sample_axis=1), (N, D, H, W), "sample axis 1 and feature axis 1"),
        (Layout(feature_axis=0), (N, D), "sample axis 0 and feature axis 0"),
        (Layout(), (N,), "sample axis 0 and feature axis -1"),
    ]:
        with pytest.raises(
            UserError, match=rf"^a stream of shape \({shape[0]}.* cannot have {axes};"
        ):
            layout.arrange(stream(*shape))


def test_a_token_that_is_not_there_is_named():
    for token in [T, -T - 1, 100]:
        with pytest.raises(
            UserError, match=rf"^token {token} does not exist: the stream has 4 pos"
        ):
            Layout(token=token).arrange(stream(N, T, D))
