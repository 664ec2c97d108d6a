"""Run a block of many networks at once, forward and backward, without autograd.

The first axis of every tensor is the run: streams are (runs, samples, d), weights (runs, d, d). No
operation mixes runs, so one run cannot change another.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from depthgauge.nets.stacked.products import Products

Parameters = dict[str, Tensor]

LAYER_NORM_EPS = 1e-5
PARAMETERS = ("ln.weight", "ln.bias", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")


@dataclass(frozen=True)
class Normed:
    """A LayerNorm's input h and its output before weight and bias: x̂ = (h − mean)·rstd."""

    stream: Tensor
    normed: Tensor
    mean: Tensor
    rstd: Tensor

    def input_gradient(self, upstream: Tensor) -> Tensor:
        """Return the gradient of ⟨x̂(h), upstream⟩ at h."""
        width = [self.stream.shape[-1]]
        dh, _, _ = torch.ops.aten.native_layer_norm_backward(
            upstream, self.stream, width, self.mean, self.rstd, None, None, [True, False, False]
        )
        gradient: Tensor = dh
        return gradient


def layer_norm(stream: Tensor) -> Normed:
    """Normalise every sample of every run over its features."""
    return Normed(
        stream, *torch.native_layer_norm(stream, [stream.shape[-1]], None, None, LAYER_NORM_EPS)
    )


@dataclass(frozen=True)
class BlockTape:
    """The tensors of a block's forward pass that its backward pass needs."""

    norm: Normed
    scaled: Tensor
    hidden: Tensor
    activated: Tensor


def block_branch(p: Parameters, stream: Tensor, products: Products) -> Tensor:
    """Return the branch W₂·gelu(W₁·LN(h) + b₁) + b₂, without a tape."""
    scaled = layer_norm(stream).normed
    torch.addcmul(p["ln.bias"].unsqueeze(1), scaled, p["ln.weight"].unsqueeze(1), out=scaled)
    hidden = products.linear(scaled, p["fc1.weight"], p["fc1.bias"])
    return products.linear(torch.ops.aten.gelu_(hidden), p["fc2.weight"], p["fc2.bias"])


def block_forward(p: Parameters, stream: Tensor, products: Products) -> tuple[Tensor, BlockTape]:
    """Return the branch and the tape for its backward pass."""
    norm = layer_norm(stream)
    scaled = torch.addcmul(p["ln.bias"].unsqueeze(1), norm.normed, p["ln.weight"].unsqueeze(1))
    hidden = products.linear(scaled, p["fc1.weight"], p["fc1.bias"])
    activated = torch.nn.functional.gelu(hidden)
    branch = products.linear(activated, p["fc2.weight"], p["fc2.bias"])
    return branch, BlockTape(norm, scaled, hidden, activated)


def block_backward(
    p: Parameters, tape: BlockTape, upstream: Tensor, out: Parameters, products: Products
) -> Tensor:
    """Return the gradient of Σ ⟨f, upstream⟩ at LN's output; write parameter gradients into `out`.

    f is the block's branch. The tensors of `out` hold only the runs that train this block, which
    are the first runs. If `out` is empty, no parameter gradient is computed.
    """
    runs = len(upstream)
    d_activated = products.through(upstream, p["fc2.weight"][:runs])
    d_hidden: Tensor = torch.ops.aten.gelu_backward(d_activated, tape.hidden[:runs])
    d_scaled = products.through(d_hidden, p["fc1.weight"][:runs])
    if out:
        trained = len(out["fc1.weight"])
        up, dz, dy = upstream[:trained], d_hidden[:trained], d_scaled[:trained]
        products.weight_gradient(up, tape.activated[:trained], out["fc2.weight"])
        torch.sum(up, 1, out=out["fc2.bias"])
        products.weight_gradient(dz, tape.scaled[:trained], out["fc1.weight"])
        torch.sum(dz, 1, out=out["fc1.bias"])
        torch.sum(dy * tape.norm.normed[:trained], 1, out=out["ln.weight"])
        torch.sum(dy, 1, out=out["ln.bias"])
    return d_scaled


def block_local_backward(
    p: Parameters,
    tape: BlockTape,
    upstream: Tensor,
    out: Parameters,
    *,
    products: Products,
    scale: float,
) -> None:
    """Write the parameter gradients of scale·Σ ⟨f, upstream⟩ into `out`.

    f is the block's branch. The gradient at LN's output is not computed. Let x̂ be the normalised
    stream, y = γ⊙x̂ + β the input of the first Linear, z = W₁·y + b₁ its output, ∂/∂z the gradient
    at z, and M = (∂/∂z)ᵀ x̂. Then

        ∂/∂W₁ = M⊙γ + (∂/∂b₁)βᵀ,   ∂/∂γ = Σ_rows M⊙W₁,   ∂/∂β = W₁ᵀ ∂/∂b₁.
    """
    runs = len(upstream)
    d_activated = products.through(upstream, p["fc2.weight"][:runs])
    d_hidden: Tensor = torch.ops.aten.gelu_backward(d_activated, tape.hidden[:runs])
    products.weight_gradient(upstream, tape.activated[:runs], out["fc2.weight"], scale)
    torch.sum(upstream, 1, out=out["fc2.bias"]).mul_(scale)
    weight, bias = out["fc1.weight"], torch.sum(d_hidden, 1, out=out["fc1.bias"]).mul_(scale)
    products.weight_gradient(d_hidden, tape.norm.normed[:runs], weight, scale)
    torch.sum(weight * p["fc1.weight"][:runs], 1, out=out["ln.weight"])
    torch.bmm(bias.unsqueeze(1), p["fc1.weight"][:runs], out=out["ln.bias"].unsqueeze(1))
    weight.mul_(p["ln.weight"][:runs].unsqueeze(1))
    weight.addcmul_(bias.unsqueeze(2), p["ln.bias"][:runs].unsqueeze(1))


def block_input_gradient(p: Parameters, tape: BlockTape, d_scaled: Tensor) -> Tensor:
    """Return the gradient at h; `d_scaled`, the gradient at LN's output, is overwritten."""
    return tape.norm.input_gradient(d_scaled.mul_(p["ln.weight"].unsqueeze(1)))
