"""Small networks, batches and credit for the tests of gauges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from hypothesis import strategies as st
from oracles.gauges import Sample, SlowNet
from torch import Tensor, nn

from depthgauge.gauges.measure import measure
from depthgauge.gauges.reading import Gauge, Reading
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.verdict.judge import judge

Batch = tuple[Tensor, Tensor]


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def make_net(
    features: int = 6,
    width: int = 8,
    classes: int = 4,
    blocks: int = 3,
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    w2_std: float = 0.3,
    residual_add: bool = True,
    terminal_norm: bool = True,
) -> ResidualMLP:
    """Make a network whose norms and biases are not 1 and 0, so that every parameter matters."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = ResidualMLP(
            features,
            width,
            classes,
            blocks,
            w2_std=w2_std,
            residual_add=residual_add,
            terminal_norm=terminal_norm,
        ).to(dtype)
        with torch.no_grad():
            for parameter in net.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.2 * torch.randn_like(parameter))
    return net


def make_batches(
    *sizes: int,
    features: int = 6,
    classes: int = 4,
    seed: int = 1,
    dtype: torch.dtype = torch.float32,
) -> list[Batch]:
    generator = torch.Generator().manual_seed(seed)
    return [
        (
            torch.randn(size, features, generator=generator, dtype=dtype),
            torch.randint(classes, (size,), generator=generator),
        )
        for size in sizes
    ]


@dataclass(frozen=True)
class Case:
    """A network in float64 with batches and random feedback."""

    net: ResidualMLP
    batches: list[Batch]
    feedback: list[Tensor] = field(repr=False)

    @property
    def slow(self) -> SlowNet:
        return SlowNet(self.net)

    def credit(self, batch: BatchView) -> list[Tensor]:
        """Direct feedback: e·B_0ᵀ for the embedding, e·B_lᵀ for block l."""
        return [batch.error @ matrix.T for matrix in (self.feedback[0], *self.feedback)]


@st.composite
def cases(draw: st.DrawFn, batches: tuple[int, int] = (1, 3), largest: int = 5) -> Case:
    """Draw a network of random shape, depth and initialisation, with batches of random sizes."""
    features, width = draw(st.integers(1, 9)), draw(st.integers(3, 12))
    classes, blocks = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**16))
    net = make_net(
        features,
        width,
        classes,
        blocks,
        seed=seed,
        dtype=torch.float64,
        w2_std=math.exp(draw(st.floats(math.log(0.01), math.log(2)))),
        residual_add=draw(st.booleans()),
        terminal_norm=draw(st.booleans()),
    )
    fewest, most = batches
    sizes = draw(st.lists(st.integers(1, largest), min_size=fewest, max_size=most))
    shown = make_batches(
        *sizes, features=features, classes=classes, seed=seed + 1, dtype=torch.float64
    )
    return Case(net, shown, list(random(blocks, width, classes, seed=seed, dtype=torch.float64)))


def read(net: nn.Module | StreamReader, batches: Sequence[Batch], gauge: Gauge) -> Reading:
    """Return the reading of one gauge on these batches."""
    measure(net if isinstance(net, StreamReader) else StreamReader(net), batches, [gauge])
    return gauge.reading()


def flat(batches: Sequence[Sequence[Sample]]) -> list[Sample]:
    return [sample for batch in batches for sample in batch]


def true_gradients(batch: BatchView) -> tuple[Tensor, ...]:
    """The credit that backpropagation gives."""
    return batch.gradients


def turned_gradients(batch: BatchView) -> list[Tensor]:
    """The true gradients turned by a right angle: (a, b) becomes (−b, a) all along."""
    return [torch.stack([-g[:, 1::2], g[:, ::2]], -1).flatten(1) for g in batch.gradients]


def random_credit(batch: BatchView) -> list[Tensor]:
    """Return random vectors, which do not depend on the network."""
    return [random(*state.shape, seed=99 + i) for i, state in enumerate(batch.states)]


def stream_times(net: ResidualMLP, factor: float) -> ResidualMLP:
    """Make the stream `factor` times as large at every layer; LayerNorms hide the difference."""
    with torch.no_grad():
        for layer in (net.embed, *(block.fc2 for block in net.blocks)):
            layer.weight.mul_(factor)
            layer.bias.mul_(factor)
    return net


def fires(gradient: float, share: float, numerics: float | None = None) -> bool:
    """Whether D2 fires on such readings, the network being healthy otherwise."""
    readings = {"growth": 1.0, "gradient": gradient, "error_share": share, "numerics": numerics}
    return "D2" in judge([readings]).fired
