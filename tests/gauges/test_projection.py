"""Γ of many random projections, against a loop that forms every projected vector."""

from __future__ import annotations

import pytest
import torch
from gauges.small_networks import random
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.gauges import cosine, mean
from torch import Tensor

from depthgauge.gauges.projection import ProjectedAlignment


def by_loop(source: Tensor, gradients: list[Tensor], matrices: list[Tensor]) -> list[list[float]]:
    """Mean of cos(B·s, g) over the samples where both vectors are there, (draws, layers)."""
    return [
        [
            mean(
                [
                    cosine(drawn[number].double() @ s.double(), g.double())
                    for s, g in zip(source, gradient, strict=True)
                    if s.any() and g.any()
                ]
            )
            for gradient, drawn in zip(gradients, matrices, strict=True)
        ]
        for number in range(len(matrices[0]))
    ]


def case(*, samples=12, draws=5, layers=3, width=8, classes=4, seed=0, dtype=torch.float64):
    source = random(samples, classes, seed=seed, dtype=dtype)
    gradients = random(layers, samples, width, seed=seed + 1, dtype=dtype)
    matrices = random(layers, draws, width, classes, seed=seed + 2, dtype=dtype)
    return source, list(gradients), list(matrices)


def projected(source: Tensor, gradients: list[Tensor], matrices: list[Tensor]) -> Tensor:
    return ProjectedAlignment(source, gradients, matrices[0].dtype)(matrices)


def compare(source: Tensor, gradients: list[Tensor], matrices: list[Tensor]) -> None:
    found = projected(source, gradients, matrices)
    expected = by_loop(source, gradients, matrices)
    assert found.dtype == torch.float64
    assert found.shape == (len(expected), len(expected[0]))
    for ours, theirs in zip(found.tolist(), expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)


@settings(max_examples=25)
@given(
    samples=st.integers(1, 9),
    draws=st.integers(1, 6),
    layers=st.integers(1, 4),
    width=st.integers(4, 12),
    classes=st.integers(2, 4),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_against_a_loop_that_forms_the_vectors(**shape):
    compare(*case(**shape))


def test_many_draws_at_once():
    compare(*case(samples=4, draws=230, dtype=torch.float32))


def test_lengths_do_not_matter_however_small():
    for scale in [1e-30, 1e-10, 1e10, 1e30]:
        source, gradients, matrices = case(dtype=torch.float32)
        plain = projected(source, gradients, matrices)
        scaled = projected(scale * source, [scale * g for g in gradients], matrices)
        assert (plain - scaled).abs().max() < 1e-6


def test_samples_without_an_error_or_a_gradient_are_left_out():
    source, gradients, matrices = case()
    source[2] = 0
    gradients[1][5] = 0
    compare(source, gradients, matrices)
    kept = [number for number in range(12) if number not in (2, 5)]
    alone = projected(source[kept], [gradients[1][kept]], [matrices[1]])
    together = projected(source, gradients, matrices)
    assert together[:, 1].tolist() == pytest.approx(alone[:, 0].tolist(), rel=1e-12)


def test_a_layer_without_any_gradient_is_undefined_and_the_others_are_not():
    source, gradients, matrices = case()
    gradients[1].zero_()
    found = projected(source, gradients, matrices)
    assert found.isnan().tolist() == [[False, True, False]] * 5


def test_one_set_of_gradients_serves_draw_after_draw():
    source, gradients, matrices = case(draws=7)
    alignment = ProjectedAlignment(source, gradients, torch.float64)
    apart = [alignment([drawn[part] for drawn in matrices]) for part in (slice(3), slice(3, 7))]
    assert (torch.cat(apart) - projected(source, gradients, matrices)).abs().max() < 1e-12


def test_a_projection_along_the_gradient_is_wholly_aligned():
    """B = g sᵀ sends s to g."""
    source, gradients, _ = case(samples=1, layers=2)
    matrices = [torch.outer(g[0], source[0]).unsqueeze(0) for g in gradients]
    found = projected(source, gradients, matrices)
    assert found.tolist() == [pytest.approx([1.0, 1.0], abs=1e-12)]
    opposed = projected(source, [-g for g in gradients], matrices)
    assert opposed.tolist() == [pytest.approx([-1.0, -1.0], abs=1e-12)]


def test_credit_that_all_positions_share_has_the_cosine_over_all_positions():
    source, _, matrices = case()
    gradients = list(random(3, 12, 5, 8, seed=4, dtype=torch.float64))
    gradients[1][2] = 0.0
    alignment = ProjectedAlignment(source, gradients, torch.float64)(matrices)
    flat = [gradient.flatten(1) for gradient in gradients]
    copied = [drawn.repeat(1, 5, 1) for drawn in matrices]
    for ours, slow in zip(alignment.tolist(), by_loop(source, flat, copied), strict=True):
        assert ours == pytest.approx(slow, abs=1e-12)
