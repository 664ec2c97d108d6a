"""A causal transformer for sequences of tokens, such as the characters of a text."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from typing_extensions import Self

from depthgauge.errors import UserError
from depthgauge.nets.architectures.contract import Network
from depthgauge.nets.architectures.transformer import (
    TransformerBlock,
    TransformerOptions,
    check_heads,
)
from depthgauge.tasks.shape import TaskShape


class TokenEmbedding(nn.Module):
    """h_0 = embedding of the token + embedding of its position."""

    def __init__(self, symbols: int, positions: int, width: int) -> None:
        super().__init__()
        self.token = nn.Embedding(symbols, width)
        self.position = nn.Embedding(positions, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return (samples, positions, width) for tokens (samples, positions)."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        stream: Tensor = self.token(tokens) + self.position(places)
        return stream


class TokenReadout(nn.Module):
    """LayerNorm and a linear layer: logits for every position, or for the last one alone."""

    def __init__(self, width: int, outputs: int, *, per_position: bool) -> None:
        super().__init__()
        self.per_position = per_position
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, outputs)

    def forward(self, stream: Tensor) -> Tensor:
        """Return logits (samples, positions, outputs), or (samples, outputs)."""
        read = stream if self.per_position else stream[:, -1]
        logits: Tensor = self.head(self.ln(read))
        return logits


class GPT(Network):
    """A causal transformer: token and position embeddings, pre-norm blocks, a linear readout.

    Args:
        symbols: the number of different tokens.
        positions: the number of tokens of a sample.
        outputs: the number of logits.
        width: the width of the stream.
        depth: the number of blocks.
        per_position: whether every position has an answer; otherwise the last position answers.
        options: heads, width of the blocks' inner layer, dropout, attention.
    """

    name = "gpt"
    summary = "a causal transformer for tokens: every position sees itself and earlier positions"
    Options = TransformerOptions

    def __init__(
        self,
        symbols: int,
        positions: int,
        outputs: int,
        *,
        width: int = 64,
        depth: int = 4,
        per_position: bool = True,
        options: TransformerOptions | None = None,
    ) -> None:
        super().__init__()
        options = options or TransformerOptions()
        check_heads(self.name, width, options.heads)
        self.embed = TokenEmbedding(symbols, positions, width)
        self.blocks = nn.ModuleList(
            TransformerBlock(width, options, causal=True) for _ in range(depth)
        )
        self.readout = TokenReadout(width, outputs, per_position=per_position)

    @classmethod
    def build(cls, shape: TaskShape, width: int, depth: int, options: TransformerOptions) -> Self:
        """Build the network for a task whose samples are tokens."""
        if shape.symbols is None:
            raise UserError(
                f"the net gpt takes tokens, and {shape}; choose a task of tokens, such as "
                "pointers, or another net"
            )
        return cls(
            shape.symbols,
            shape.sample[0],
            shape.outputs,
            width=width,
            depth=depth,
            per_position=shape.per_position,
            options=options,
        )
