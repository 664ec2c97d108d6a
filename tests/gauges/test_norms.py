"""Norms over features, medians over samples: right at every scale."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles.readings import lower_median

from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ, median_over_samples, sample_norms


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_what_the_protocol_reads():
    assert (BATCHES_READ, BATCH_READ) == (10, 128)


def test_against_a_loop_over_runs_layers_and_samples():
    layers = [random(2, 5, 7, seed=seed) for seed in range(3)]
    norms = sample_norms(layers)
    assert norms.shape == (2, 3, 5)
    for run in range(2):
        for number, layer in enumerate(layers):
            for sample in range(5):
                squares = [float(value) ** 2 for value in layer[run, sample]]
                expected = math.sqrt(math.fsum(squares))
                assert norms[run, number, sample].item() == pytest.approx(
                    expected, rel=1e-14, abs=0
                )


def test_without_a_run_axis():
    assert sample_norms([random(5, 7), random(5, 7, seed=1)]).shape == (2, 5)


def test_it_is_a_norm_over_features_and_not_over_everything():
    layer = torch.tensor([[3.0, 4.0], [0.0, 0.0], [-5.0, 12.0]])
    assert sample_norms([layer]).tolist() == [[5.0, 0.0, 13.0]]


def test_no_scale_of_float32_leaves_the_range():
    for scale in [1e-45, 1e-38, 1e-30, 1e-20, 1.0, 1e20, 1e30, 1e38]:
        layer = torch.full((4, 9), scale, dtype=torch.float32)
        expected = 3.0 * layer[0, 0].item()
        assert expected > 0
        norms = sample_norms([layer])
        assert norms.dtype == torch.float64
        assert norms.tolist() == [pytest.approx([expected] * 4, rel=1e-12, abs=0)]


def test_a_mixture_of_scales_in_one_layer():
    layer = torch.tensor([[1e-30, 1e-30], [1e30, 1e30], [3e-30, 4e-30]])
    assert sample_norms([layer])[0].tolist() == pytest.approx(
        [math.sqrt(2) * 1e-30, math.sqrt(2) * 1e30, 5e-30], rel=1e-6, abs=0
    )


def test_what_is_not_finite_stays_visible():
    layer = torch.tensor([[1.0, math.nan], [1.0, math.inf]])
    first, second = sample_norms([layer])[0].tolist()
    assert math.isnan(first)
    assert second == math.inf


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=9))
def test_the_median_is_the_lower_one_of_two(values):
    found = median_over_samples(torch.tensor(values, dtype=torch.float64))
    assert found.item() == lower_median(values)


def test_the_median_is_taken_over_the_last_axis():
    norms = random(3, 4, 6).double()
    found = median_over_samples(norms)
    assert found.shape == (3, 4)
    assert found[2, 1].item() == sorted(norms[2, 1].tolist())[2]


def test_a_sample_that_is_not_a_number_spoils_the_median():
    assert math.isnan(median_over_samples(torch.tensor([1.0, math.nan, 2.0])).item())
