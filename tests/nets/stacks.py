"""A small residual stack whose blocks and answers can be wrapped in any way, and its parts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from oracles.foreign import Parts, run
from torch import Tensor, nn
from torch.nn.functional import gelu

from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.stream_reader import StreamReader

FEATURES, WIDTH, CLASSES, SAMPLES = 4, 6, 5, 7
Wrap = Callable[[Any], Any]


def as_it_is(value: Any) -> Any:
    return value


class Block(nn.Module):
    """A branch; what is returned is the branch, or the stream with the branch added."""

    def __init__(self, returns: str, pack: Wrap) -> None:
        super().__init__()
        self.ln, self.fc1 = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc2 = nn.Linear(WIDTH, WIDTH)
        self.returns, self.pack = returns, pack

    def branch(self, h: Tensor) -> Tensor:
        return self.fc2(gelu(self.fc1(self.ln(h))))

    def forward(self, h: Tensor, *_: Any, **__: Any) -> Any:
        branch = self.branch(h)
        return self.pack(h + branch if self.returns == "stream" else branch)


class Stack(nn.Module):
    """h_0 = embed(x), h_{l+1} = h_l + branch_l(h_l), logits = head(norm(h_L))."""

    def __init__(
        self,
        returns: str = "stream",
        depth: int = 3,
        *,
        pack: Wrap = as_it_is,
        unpack: Wrap = as_it_is,
        call: Callable[[nn.Module, Tensor], Any] = lambda block, h: block(h),
        answer: Wrap = as_it_is,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(FEATURES, WIDTH)
        self.layers = nn.ModuleList(Block(returns, pack) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)
        self.unpack, self.call, self.answer = unpack, call, answer

    def forward(self, x: Tensor) -> Any:
        h = self.embed(x)
        for block in self.layers:
            out = self.unpack(self.call(block, h))
            h = out if block.returns == "stream" else h + out
        return self.answer(self.head(self.norm(h)))


def stack(
    returns: str = "stream", depth: int = 3, dtype: torch.dtype = torch.float64, **options: Any
) -> Stack:
    """The same parameters each time, whatever the blocks return."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return Stack(returns, depth, **options).to(dtype)


def scaled(net: Stack, factor: float) -> Stack:
    """Every branch `factor` times as large."""
    with torch.no_grad():
        for block in net.layers:
            block.fc2.weight *= factor
            block.fc2.bias *= factor
    return net


def parts_of(net: Stack) -> Parts:
    blocks = [lambda h, block=block: h + block.branch(h) for block in net.layers]
    return Parts(net.embed, blocks, lambda h: net.head(net.norm(h)), as_it_is)


def batch(*positions: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Inputs (samples, *positions, features) and a label for each sample and position."""
    generator = torch.Generator().manual_seed(4)
    shape = (SAMPLES, *positions)
    x = torch.randn(*shape, FEATURES, generator=generator, dtype=dtype)
    return x, torch.randint(CLASSES, shape, generator=generator)


def states_and_gradients(
    net: nn.Module, x: Tensor, y: Tensor, parts: Parts | None = None
) -> tuple[list[Tensor], list[Tensor]]:
    """h_l and g_l by hand: samples do not meet, so the sum's gradient is each sample's own."""
    states, logits = run(parts or parts_of(net), x)
    chosen = logits.log_softmax(-1).gather(-1, y.unsqueeze(-1))
    gradients = torch.autograd.grad(-chosen.sum(), states)
    return [state.detach() for state in states], list(gradients)


def see(net: nn.Module, **options: Any) -> BatchView:
    return StreamReader(net, "layers", **options).see(*batch())


def assert_seen(seen: BatchView, states: list[Tensor], gradients: list[Tensor]) -> None:
    torch.testing.assert_close(list(seen.states), states, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(list(seen.gradients), gradients, rtol=1e-9, atol=1e-12)


class Pair(NamedTuple):
    """What some blocks return."""

    hidden: Tensor
    weights: Tensor | None


PACKED: dict[str, tuple[Wrap, Wrap]] = {
    "tensor": (as_it_is, as_it_is),
    "tuple": (lambda h: (h, h.mean()), lambda out: out[0]),
    "tuple of one": (lambda h: (h,), lambda out: out[0]),
    "tuple that begins with None": (lambda h: (None, h), lambda out: out[1]),
    "list": (lambda h: [h, None], lambda out: out[0]),
    "dict": (lambda h: {"hidden": h, "weights": h.mean()}, lambda out: out["hidden"]),
    "ordered dict": (lambda h: OrderedDict(hidden=h), lambda out: out["hidden"]),
    "named tuple": (lambda h: Pair(h, None), lambda out: out.hidden),
}

ANSWERS: dict[str, Wrap] = {
    "tensor": as_it_is,
    "tuple": lambda logits: (logits, logits.sum()),
    "list": lambda logits: [logits],
    "object with logits": lambda logits: SimpleNamespace(loss=None, logits=logits),
    "dict": lambda logits: {"loss": None, "logits": logits},
}

CALLS: dict[str, Callable[[nn.Module, Tensor], Any]] = {
    "one argument": lambda block, h: block(h),
    "a keyword": lambda block, h: block(h=h),
    "a mask besides": lambda block, h: block(h, torch.ones(3, 3), cache=None),
    "keywords besides": lambda block, h: block(h=h, mask=torch.ones(3, 3), causal=True),
}
