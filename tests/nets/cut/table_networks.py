"""One small network for each way in which networks use their blocks and their stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu
from torch.utils.checkpoint import checkpoint

FEATURES, WIDTH, CLASSES, SAMPLES, DEPTH, TOKENS = 4, 6, 5, 7, 3, 4


@dataclass
class Row:
    """A network with its blocks, its inputs, and how it may be probed."""

    model: nn.Module
    blocks: Sequence[nn.Module]
    inputs: Any
    labels: Tensor
    options: dict[str, Any] = field(default_factory=dict)
    argument: int | str = 0


class Branch(nn.Module):
    """A branch."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def branch(self, h: Tensor) -> Tensor:
        return self.fc2(gelu(self.fc1(self.norm(h))))

    def forward(self, h: Tensor, *_: Any, **__: Any) -> Any:
        return self.branch(h)


class Stream(Branch):
    """The stream with the branch added."""

    def forward(self, h: Tensor, *_: Any, **__: Any) -> Any:
        return h + self.branch(h)


Walk = Callable[["Walker", Tensor], Tensor]


class Walker(nn.Module):
    """An embedding, blocks, a readout, and a function that says how the stream passes the blocks.

    `extra` is a module that the function may use.
    """

    def __init__(
        self,
        walk: Walk,
        block: Callable[[], nn.Module] = Stream,
        depth: int = DEPTH,
        extra: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(FEATURES, WIDTH)
        self.blocks = nn.ModuleList(block() for _ in range(depth))
        self.extra = extra
        self.head = nn.Linear(WIDTH, CLASSES)
        self.walk = walk

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.walk(self, self.embed(x)))


def in_turn(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = block(h)
    return h


def added(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = h + block(h)
    return h


def make(
    walk: Walk,
    block: Callable[[], nn.Module] = Stream,
    *,
    depth: int = DEPTH,
    extra: Callable[[], nn.Module] | None = None,
    argument: int | str = 0,
    order: Callable[[list[nn.Module]], list[nn.Module]] = list,
    **options: Any,
) -> Row:
    """A walker in float64 with a batch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = Walker(walk, block, depth, extra() if extra else None).double()
        x = torch.randn(SAMPLES, FEATURES, dtype=torch.float64)
        labels = torch.randint(CLASSES, (SAMPLES,))
    return Row(model, order(list(model.blocks)), x, labels, options, argument)


# Recomputation


def checkpointed(reentrant: bool) -> Walk:
    def walk(net: Walker, h: Tensor) -> Tensor:
        for block in net.blocks:
            h = checkpoint(block, h, use_reentrant=reentrant)
        return h

    return walk


def checkpointed_and_added(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = h + checkpoint(block, h, use_reentrant=True)
    return h


def two_checkpointed_as_one(net: Walker, h: Tensor) -> Tensor:
    first, second, third = net.blocks
    return third(checkpoint(lambda h: second(first(h)), h, use_reentrant=True))


class CheckpointInside(Branch):
    def forward(self, h: Tensor) -> Tensor:
        return h + checkpoint(self.branch, h, use_reentrant=True)


# Writing in place


def added_in_place(net: Walker, h: Tensor) -> Tensor:
    h = h * 1.0
    for block in net.blocks:
        h += block(h)
    return h


class WritesAndReturns(Branch):
    def forward(self, h: Tensor) -> Tensor:
        h += self.fc1(h * 1.0)
        return h


class Rectifies(Branch):
    def forward(self, h: Tensor) -> Tensor:
        h = torch.relu_(h)
        return h + self.fc1(h * 1.0)


def result_ignored(net: Walker, h: Tensor) -> Tensor:
    h = h * 1.0
    for block in net.blocks:
        block(h)
    return h


def slices_of_a_buffer(net: Walker, h: Tensor) -> Tensor:
    buffer = torch.cat([h, 0.5 * h], 1)
    for block in net.blocks:
        branch = block(buffer[:, :WIDTH])
        buffer = torch.cat([buffer[:, :WIDTH] + branch, buffer[:, WIDTH:]], 1)
    return buffer[:, :WIDTH]


# Precision


def under_autocast(net: Walker, h: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return added(net, h)


# What the network does between blocks


def linear_between(net: Walker, h: Tensor) -> Tensor:
    for block, between in zip(net.blocks, net.extra, strict=True):
        h = between(block(h))
    return h


def linears() -> nn.Module:
    return nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH))


def scaled(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = h + 0.5 * block(h)
    return h


def norm_outside(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = h + block(net.extra(h))
    return h


def long_skips(net: Walker, h: Tensor) -> Tensor:
    a, b, c, d = net.blocks
    first = a(h)
    return d(c(b(first)) + first)


def first_state_at_the_end(net: Walker, h: Tensor) -> Tensor:
    return in_turn(net, h) + h


def sum_of_all_states(net: Walker, h: Tensor) -> Tensor:
    states = [h]
    for block in net.blocks:
        states.append(block(torch.stack(states).sum(0)))
    return torch.stack(states).sum(0)


class SideOutput(Branch):
    """Returns the stream and a bias that all later blocks use."""

    def forward(self, h: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor]:
        bias = self.fc1(h).mean(0) if bias is None else bias
        return h + self.fc2(gelu(h + bias)), bias


def side_output(net: Walker, h: Tensor) -> Tensor:
    bias = None
    for block in net.blocks:
        h, bias = block(h, bias)
    return h


# Arguments


class MaskFirst(Branch):
    def forward(self, mask: Tensor, *, other: Tensor, hidden: Tensor) -> Tensor:
        return hidden + mask * self.branch(hidden) + other


def mask_first(net: Walker, h: Tensor) -> Tensor:
    mask = torch.ones_like(h)
    for block in net.blocks:
        h = block(mask, other=mask, hidden=h)
    return h


def whole_mask_first(net: Walker, h: Tensor) -> Tensor:
    mask = torch.ones(h.shape, dtype=torch.int64)
    for block in net.blocks:
        h = block(mask, other=mask, hidden=h)
    return h


class Threefold(Branch):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return q + self.fc2(gelu(self.fc1(k) * v))


def three_times(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = block(h, h, h)
    return h


class Conditioned(Branch):
    def forward(self, condition: Tensor, h: Tensor) -> Tensor:
        return h + self.branch(h + condition)


def conditioned(net: Walker, h: Tensor) -> Tensor:
    condition = net.extra(h.detach().mean(0))
    for block in net.blocks:
        h = block(condition, h)
    return h


class TakesTuple(Branch):
    def forward(self, pair: tuple[Tensor, int]) -> tuple[Tensor, int]:
        h, number = pair
        return h + self.branch(h), number


def in_a_tuple(net: Walker, h: Tensor) -> Tensor:
    pair = (h, 0)
    for block in net.blocks:
        pair = block(pair)
    return pair[0]


# Gradients that stop


def without_gradients(net: Walker, h: Tensor) -> Tensor:
    with torch.no_grad():
        return in_turn(net, h) + 0.0 * h


def branches_without_gradients(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        with torch.no_grad():
            branch = block(h)
        h = h + branch
    return h


def detached_between(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = block(h.detach())
    return h


# The order of blocks


def dropping_layers(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        if not net.training or torch.rand(()) > 0.4:
            h = block(h)
    return h


def seldom_a_block(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        if torch.rand(()) > 0.75:
            h = block(h)
    return h


def backwards(net: Walker, h: Tensor) -> Tensor:
    for block in reversed(net.blocks):
        h = block(h)
    return h


def no_block(net: Walker, h: Tensor) -> Tensor:
    return h


def each_twice(net: Walker, h: Tensor) -> Tensor:
    for block in net.blocks:
        h = block(block(h))
    return h


def siamese(net: Walker, h: Tensor) -> Tensor:
    return in_turn(net, h) - in_turn(net, h.flip(0))


class TwoStreams(Branch):
    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        a = a + gelu(self.fc1(b))
        return a, b + gelu(self.fc2(a))


def two_streams(net: Walker, h: Tensor) -> Tensor:
    a = b = h
    for block in net.blocks:
        a, b = block(a, b)
    return a + b


def in_parallel(net: Walker, h: Tensor) -> Tensor:
    return sum(block(h) for block in net.blocks)


# Randomness and state


class Dropping(Branch):
    def forward(self, h: Tensor) -> Tensor:
        return h + nn.functional.dropout(self.branch(h), 0.3, self.training)


class OwnGenerator(Branch):
    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(0)

    def forward(self, h: Tensor) -> Tensor:
        noise = torch.randn(h.shape, generator=self.generator, dtype=h.dtype)
        return h + self.branch(h) * noise


class Counting(Branch):
    """A buffer that is not saved."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()), persistent=False)

    def forward(self, h: Tensor) -> Tensor:
        self.seen += 1
        return h + self.branch(h) / self.seen


def with_shared_weights() -> Row:
    row = make(in_turn)
    row.model.blocks[2].fc1 = row.model.blocks[0].fc1
    return row


def one_block_twice() -> Row:
    row = make(each_twice, depth=1)
    row.blocks = [row.model.blocks[0]] * 2
    return row


class Gated(Branch):
    """A gate that starts at zero hides what is behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(()))

    def forward(self, h: Tensor) -> Tensor:
        return self.gate * self.branch(h)


class CopiesFirst(Branch):
    """Works on a copy, so that the network may write into the stream."""

    def forward(self, h: Tensor) -> Tensor:
        return self.branch(h * 1.0)


# Transformers


class Masked(nn.Module):
    """torch's encoder with a causal mask and padding."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 8, dropout=0.2, batch_first=True)
        self.embed = nn.Linear(FEATURES, WIDTH)
        self.encoder = nn.TransformerEncoder(layer, DEPTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(tokens, dtype=x.dtype)
        padding = torch.zeros(len(x), tokens, dtype=torch.bool)
        padding[::2, -1] = True
        stream = self.encoder(self.embed(x), mask, src_key_padding_mask=padding, is_causal=True)
        return self.head(stream.mean(1))


class Attention(nn.Module):
    """A pre-norm transformer block as users write it."""

    def __init__(self) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 8), nn.GELU(), nn.Linear(8, WIDTH))

    def forward(self, h: Tensor) -> Tensor:
        x = self.ln1(h)
        h = h + self.attention(x, x, x, need_weights=False)[0]
        return h + self.mlp(self.ln2(h))


class Patches(nn.Module):
    """A ViT of a few lines, with a class token."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(FEATURES, WIDTH)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.positions = nn.Parameter(torch.randn(1, TOKENS + 1, WIDTH))
        self.blocks = nn.ModuleList(Attention() for _ in range(DEPTH))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.cat([self.token.expand(len(x), -1, -1), self.embed(x)], 1) + self.positions
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h)[:, 0])


def masked_encoder() -> Row:
    return _of_tokens(Masked, lambda net: net.encoder.layers)


def patches() -> Row:
    return _of_tokens(Patches, lambda net: net.blocks)


def _of_tokens(make: Callable[[], Any], blocks: Callable[[Any], Any]) -> Row:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = make().double()
        x = torch.randn(SAMPLES, TOKENS, FEATURES, dtype=torch.float64)
        return Row(model, list(blocks(model)), x, torch.randint(CLASSES, (SAMPLES,)))
