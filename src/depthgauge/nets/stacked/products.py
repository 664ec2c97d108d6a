"""The engine's matrix products: in the precision of their factors, or in bfloat16."""

from __future__ import annotations

import torch
from torch import Tensor

MATRIX = 2


class Products:
    """The three products of a Linear layer, of one or, with a leading axis, of each of many runs.

    They are in the precision of their factors.
    """

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """x·weightᵀ + bias."""
        if x.dim() == MATRIX:
            return torch.addmm(bias, x, weight.mT)
        return torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)

    def through(self, upstream: Tensor, weight: Tensor) -> Tensor:
        """upstream·weight: the gradient at the input."""
        return torch.matmul(upstream, weight)

    def weight_gradient(
        self, upstream: Tensor, inputs: Tensor, out: Tensor, scale: float = 1.0
    ) -> None:
        """scale·upstreamᵀ·inputs, written into `out`."""
        add = torch.addmm if inputs.dim() == MATRIX else torch.baddbmm
        add(out, upstream.mT, inputs, beta=0, alpha=scale, out=out)


FULL_PRECISION = Products()


class OneDnnProducts(Products):
    """The same, of single matrices x·weightᵀ by oneDNN.

    On processors with AVX-512 that are not Intel's, PyTorch's usual library does without it. Of
    many small matrices neither is faster, and into given memory oneDNN does not write.
    """

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """x·weightᵀ + bias."""
        if x.dim() != MATRIX:
            return super().linear(x, weight, bias)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
        return product


class Bf16Products(Products):
    """Factors and product rounded to bfloat16, sums in float32.

    Where the device cannot multiply bfloat16, the factors are rounded and multiplied in float32:
    the same numbers but for the order of summation, at no gain in speed.

    Args:
        device: where the factors are.
    """

    def __init__(self, device: torch.device | str) -> None:
        self._native = multiplies_bf16(torch.device(device))

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """x·weightᵀ + bias, the bias in full."""
        return self._product(x, weight.mT).add_(bias.unsqueeze(-2))

    def through(self, upstream: Tensor, weight: Tensor) -> Tensor:
        """upstream·weight: the gradient at the input."""
        return self._product(upstream, weight)

    def weight_gradient(
        self, upstream: Tensor, inputs: Tensor, out: Tensor, scale: float = 1.0
    ) -> None:
        """scale·upstreamᵀ·inputs, written into `out`."""
        torch.mul(self._product(upstream.mT, inputs), scale, out=out)

    def _product(self, a: Tensor, b: Tensor) -> Tensor:
        a, b = a.bfloat16(), b.bfloat16()
        product = a @ b if self._native else (a.float() @ b.float()).bfloat16()
        return product.float()


def products_for(precision: str, device: torch.device | str) -> Products:
    """As fast as this machine has them: float32, float64, or bf16 in float32."""
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
    """Whether the device has instructions for products of bfloat16."""
    if device.type == "cpu":
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
