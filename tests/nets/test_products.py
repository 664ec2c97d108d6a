"""bfloat16 products equal float64 products of rounded factors, with and without native bfloat16."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from depthgauge.nets.stacked.products import (
    FULL_PRECISION,
    Bf16Products,
    OneDnnProducts,
    products_for,
)

ULP = 2.0**-8
"""Half the distance of neighbouring bfloat16 numbers, relative."""


def factors(*lead: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = (*lead, 7, 12), (*lead, 5, 12), (*lead, 5), (*lead, 7, 5)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def rounded(x: Tensor) -> Tensor:
    return x.bfloat16().double()


def assert_rounded(made: Tensor, exact: Tensor) -> None:
    assert made.dtype == torch.float32
    assert torch.equal(made.bfloat16().float(), made)
    slack = 1e-5 * exact.abs().max()
    assert (made.double() - exact).abs().le(ULP * exact.abs() + slack).all()


@pytest.mark.parametrize("lead", [(), (3,)], ids=["one run", "three runs"])
@pytest.mark.parametrize("native", [True, False], ids=["native", "rounded"])
def test_products_are_those_of_rounded_factors(native, lead):
    x, weight, bias, upstream = factors(*lead)
    made, none = Bf16Products("cpu", native), torch.zeros_like(bias)
    assert_rounded(made.linear(x, weight, none), rounded(x) @ rounded(weight).mT)
    assert_rounded(made.through(upstream, weight), rounded(upstream) @ rounded(weight))
    out = torch.full_like(weight, 77.0)
    made.weight_gradient(upstream, x, out, scale=0.5)
    assert_rounded(2 * out, rounded(upstream).mT @ rounded(x))
    with_bias = made.linear(x, weight, bias) - made.linear(x, weight, none)
    assert torch.allclose(with_bias, bias.unsqueeze(-2).expand_as(with_bias), atol=1e-5)


def test_full_products_are_the_formulas():
    for lead in [(), (3,)]:
        x, weight, bias, upstream = (t.double() for t in factors(*lead))
        close = torch.testing.assert_close
        close(FULL_PRECISION.linear(x, weight, bias), x @ weight.mT + bias.unsqueeze(-2))
        close(FULL_PRECISION.through(upstream, weight), upstream @ weight)
        out = torch.full_like(weight, torch.nan)
        FULL_PRECISION.weight_gradient(upstream, x, out, scale=0.5)
        close(out, 0.5 * upstream.mT @ x)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN")
@pytest.mark.parametrize("lead", [(), (3,)], ids=["one run", "three runs"])
def test_products_by_onednn_are_exact_to_rounding(lead):
    x, weight, bias, upstream = factors(*lead)
    ours, close = OneDnnProducts(), torch.testing.assert_close
    exact = x.double() @ weight.double().mT + bias.double().unsqueeze(-2)
    close(ours.linear(x, weight, bias).double(), exact, rtol=1e-6, atol=1e-5)
    columns = x.repeat_interleave(2, dim=-1)[..., ::2]
    close(ours.linear(columns, weight, bias).double(), exact, rtol=1e-6, atol=1e-5)
    out = torch.full_like(weight, torch.nan)
    ours.weight_gradient(upstream, x, out, scale=0.5)
    close(out.double(), 0.5 * upstream.double().mT @ x.double(), rtol=1e-6, atol=1e-5)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN")
def test_only_single_precision_on_a_wide_processor_is_by_onednn(monkeypatch):
    for capability, expected in (("AVX512", OneDnnProducts), ("AVX2", type(FULL_PRECISION))):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda c=capability: c)
        assert type(products_for("float32", "cpu")) is expected
        assert products_for("float64", "cpu") is FULL_PRECISION
        assert products_for("float32", "meta") is FULL_PRECISION
        assert type(products_for("bf16", "cpu")) is Bf16Products
