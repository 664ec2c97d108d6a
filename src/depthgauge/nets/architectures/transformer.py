"""The pre-norm transformer block that `gpt` and `vit` are made of."""

from __future__ import annotations

import math
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.architectures.contract import NetOptions

Attention = Literal["product", "fused"]

SMALL = 0.01
"""The standard deviation of the last weights of both branches at the start.

So the blocks of an untrained network are close to the identity, as those of ResidualMLP are.
"""


class TransformerOptions(NetOptions):
    """The options of the networks that are made of transformer blocks."""

    heads: int = Field(default=4, ge=1, description="attention heads; they divide the width")
    ratio: int = Field(
        default=2, ge=1, description="width between a block's two linear layers, in widths"
    )
    dropout: float = Field(
        default=0.0, ge=0, lt=1, description="share of each branch's output dropped in training"
    )
    attention: Attention = Field(
        default="product",
        description="compute attention by explicit matrix products, or by torch's fused function",
    )


class SelfAttention(nn.Module):
    """Multi-head attention: softmax(Q·Kᵀ/√d)·V for each head, then a linear layer.

    Args:
        width: the width of the stream.
        heads: the number of heads, which divides the width.
        causal: if True, a position sees only itself and earlier positions.
        attention: explicit products, or torch's fused function; both compute the same.
    """

    def __init__(self, width: int, heads: int, causal: bool, attention: Attention) -> None:
        super().__init__()
        self.heads, self.causal, self.attention = heads, causal, attention
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, stream: Tensor) -> Tensor:
        """Return the attention's output for a normalised stream (samples, positions, width)."""
        samples, positions, width = stream.shape
        split = self.qkv(stream).view(samples, positions, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        if self.attention == "fused":
            mixed = nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=self.causal
            )
        else:
            mixed = self._attend(query, key, value)
        result: Tensor = self.out(mixed.transpose(1, 2).reshape(samples, positions, width))
        return result

    def _attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Return softmax(Q·Kᵀ/√d)·V; queries, keys, values are (samples, heads, positions, d)."""
        positions, size = query.shape[-2:]
        scores = query @ key.transpose(-2, -1) / math.sqrt(size)
        if self.causal:
            later = torch.ones(positions, positions, dtype=torch.bool, device=query.device).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        return scores.softmax(-1) @ value


class TransformerBlock(nn.Module):
    """h ← h + attention(LayerNorm(h)), then h ← h + mlp(LayerNorm(h)); returns the stream.

    The last linear layer of both branches starts at N(0, 0.01²) with zero bias; all other weights
    are torch's defaults.
    """

    def __init__(self, width: int, options: TransformerOptions, *, causal: bool) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = SelfAttention(width, options.heads, causal, options.attention)
        self.fc1 = nn.Linear(width, options.ratio * width)
        self.fc2 = nn.Linear(options.ratio * width, width)
        self.activation = nn.GELU()
        self.dropout = nn.Dropout(options.dropout)
        for last in (self.attention.out, self.fc2):
            nn.init.normal_(last.weight, std=SMALL)
            nn.init.zeros_(last.bias)

    def forward(self, stream: Tensor) -> Tensor:
        """Return the next state of the stream, (samples, positions, width)."""
        stream = stream + self.dropout(self.attention(self.ln1(stream)))
        wide = self.activation(self.fc1(self.ln2(stream)))
        following: Tensor = stream + self.dropout(self.fc2(wide))
        return following


def check_heads(name: str, width: int, heads: int) -> None:
    """Refuse a number of heads that does not divide the width."""
    if width % heads:
        raise UserError(
            f"the net {name} has the width {width}, which {heads} heads do not divide; choose "
            f"another --width, or {name}[heads=…]"
        )
