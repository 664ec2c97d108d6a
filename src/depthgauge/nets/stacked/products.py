"""Multiply the matrices of the fast engine: in the factors' own precision, or in bfloat16."""

from __future__ import annotations

import torch
from torch import Tensor

MATRIX = 2


class Products:
    """The three matrix products of a Linear layer, in the precision of their factors.

    Factors are matrices, or have a leading axis with one matrix for each run.
    """

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return x·weightᵀ + bias."""
        if x.dim() == MATRIX:
            return torch.addmm(bias, x, weight.mT)
        return torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)

    def through(self, upstream: Tensor, weight: Tensor) -> Tensor:
        """Return upstream·weight, the gradient at the layer's input."""
        return torch.matmul(upstream, weight)

    def weight_gradient(
        self, upstream: Tensor, inputs: Tensor, out: Tensor, scale: float = 1.0
    ) -> None:
        """Write scale·upstreamᵀ·inputs into `out`."""
        add = torch.addmm if inputs.dim() == MATRIX else torch.baddbmm
        add(out, upstream.mT, inputs, beta=0, alpha=scale, out=out)


FULL_PRECISION = Products()


class OneDnnProducts(Products):
    """Matrix products of a Linear layer; oneDNN computes x·weightᵀ if x is a single matrix.

    PyTorch's usual library uses AVX-512 only on Intel's processors; oneDNN uses AVX-512 on all
    processors that have it. oneDNN is not used for the other products: it is no faster for many
    small matrices, and it cannot write into a given tensor.
    """

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return x·weightᵀ + bias."""
        if x.dim() != MATRIX:
            return super().linear(x, weight, bias)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
        return product


class Bf16Products(Products):
    """Products of factors rounded to bfloat16, summed in float32 and rounded to bfloat16.

    If the device cannot multiply bfloat16, the rounded factors are multiplied in float32. The
    results then differ only by the order of summation, but are computed no faster than in float32.

    Args:
        device: the device of the factors.
        native: whether the device multiplies bfloat16; detected by default.
    """

    def __init__(self, device: torch.device | str, native: bool | None = None) -> None:
        self._native = multiplies_bf16(torch.device(device)) if native is None else native

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return x·weightᵀ + bias; the bias is not rounded."""
        return self._product(x, weight.mT).add_(bias.unsqueeze(-2))

    def through(self, upstream: Tensor, weight: Tensor) -> Tensor:
        """Return upstream·weight, the gradient at the layer's input."""
        return self._product(upstream, weight)

    def weight_gradient(
        self, upstream: Tensor, inputs: Tensor, out: Tensor, scale: float = 1.0
    ) -> None:
        """Write scale·upstreamᵀ·inputs into `out`."""
        torch.mul(self._product(upstream.mT, inputs), scale, out=out)

    def _product(self, a: Tensor, b: Tensor) -> Tensor:
        a, b = a.bfloat16(), b.bfloat16()
        product = a @ b if self._native else (a.float() @ b.float()).bfloat16()
        return product.float()


def products_for(precision: str, device: torch.device | str) -> Products:
    """Return this machine's fastest way to multiply matrices in float32, float64 or bf16."""
    if precision == "bf16":
        return Bf16Products(device)
    if precision == "float32" and torch.device(device).type == "cpu" and _has_onednn_avx512():
        return OneDnnProducts()
    return FULL_PRECISION


def _has_onednn_avx512() -> bool:
    return (
        torch._C._has_mkldnn
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def multiplies_bf16(device: torch.device) -> bool:
    """Return whether the device has instructions to multiply bfloat16."""
    if device.type == "cpu":
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
