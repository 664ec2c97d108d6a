"""D1 and D2 do not depend on how many positions or tokens a stream has.

Where repeating positions repeats the computation, the readings are equal, not just alike:

    loss(mean over p of h_p):  g_p = ∂loss/P, so the sum over p of ‖g_p‖ is ‖∂loss‖ for any P
    loss(h_CLS):               g_p = 0 but for one p, so the sum is that one's norm
    sum over t of loss_t(h_t): g_t = ∂loss_t, so the sum divided by the labels is their mean
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from depthgauge import Report, diagnose, watch
from depthgauge.gauges.measure import measure
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.nets.layout import Layout
from depthgauge.nets.stream_reader import StreamReader

D, C, L, N = 16, 5, 3, 8


class Block(nn.Module):
    """Attention and a layer for each position: repeated tokens stay as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(D), nn.MultiheadAttention(D, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, D), nn.GELU(), nn.Linear(D, D))

    def forward(self, h: Tensor) -> Tensor:
        normed = self.norm(h)
        h = h + self.attention(normed, normed, normed, need_weights=False)[0]
        return h + self.mlp(h)


class Transformer(nn.Module):
    """Answers from the mean token, from the first one, or for every token."""

    def __init__(self, readout: str) -> None:
        super().__init__()
        self.readout, self.cls = readout, nn.Parameter(torch.randn(D))
        self.blocks = nn.Sequential(*[Block() for _ in range(L)])
        self.norm, self.head = nn.LayerNorm(D), nn.Linear(D, C)

    def forward(self, tokens: Tensor) -> Tensor:
        if self.readout == "cls":
            tokens = torch.cat([self.cls.expand(len(tokens), 1, D), tokens], 1)
        h = self.norm(self.blocks(tokens))
        return self.head({"mean": h.mean(1), "cls": h[:, 0], "each": h}[self.readout])


class Stage(nn.Module):
    """One residual block of 1×1 convolutions and another of 3×3."""

    def __init__(self, kernel: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm2d(D), nn.ReLU(), nn.Conv2d(D, D, kernel, padding=kernel // 2)
        )

    def forward(self, h: Tensor) -> Tensor:
        return h + self.layers(h)


class ResNet(nn.Module):
    def __init__(self, kernel: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, D, kernel, padding=kernel // 2)
        self.blocks = nn.Sequential(*[Stage(kernel) for _ in range(L)])
        self.head = nn.Linear(D, C)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(images)).mean((2, 3)))


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def make(kind: Any, *args: Any) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return kind(*args).double()


def labels(*shape: int) -> Tensor:
    return torch.randint(C, shape, generator=torch.Generator().manual_seed(2))


def batches(x: Tensor, y: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Eight batches, which stability needs, of one sample each."""
    return list(zip(x.double().split(1), y.split(1), strict=True))


def read(net: nn.Module, x: Tensor, y: Tensor, **options: Any) -> Report:
    return diagnose(net, batches(x, y), **options)


def assert_same_but_for_rounding(found: Report, expected: Report) -> None:
    for name in ("scale", "reference", "stability"):
        now, before = getattr(found, name), getattr(expected, name)
        assert now.value == pytest.approx(before.value, rel=1e-9)
        assert now.per_layer == pytest.approx(before.per_layer, rel=1e-9)
    assert found.reference.over_error == pytest.approx(expected.reference.over_error, rel=1e-9)
    assert found.reference.error == pytest.approx(expected.reference.error, rel=1e-9)
    assert found.verdict == expected.verdict


@dataclass(frozen=True)
class Case:
    net: nn.Module
    x: Tensor
    y: Tensor
    repeated: Tensor
    repeated_labels: Tensor


def cases() -> dict[str, Case]:
    tokens, images, one, each = numbers(N, 3, D), numbers(N, 3, 2, 2), labels(N), labels(N, 3)
    masked = each.masked_fill(torch.tensor([[False, True, False]]), -100)
    more = tokens.repeat(1, 11, 1)
    return {
        "mean token": Case(make(Transformer, "mean"), tokens, one, more, one),
        "every token": Case(make(Transformer, "each"), tokens, each, more, each.repeat(1, 11)),
        "some tokens": Case(make(Transformer, "each"), tokens, masked, more, masked.repeat(1, 11)),
        "image": Case(make(ResNet, 1), images, one, images.repeat(1, 1, 5, 7), one),
    }


@pytest.mark.parametrize("name", cases())
def test_repeated_positions_change_nothing(name: str):
    case = cases()[name]
    assert_same_but_for_rounding(
        read(case.net, case.repeated, case.repeated_labels), read(case.net, case.x, case.y)
    )


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(), nn.CrossEntropyLoss(reduction="sum")])
def test_nor_do_they_under_a_loss_of_torch(loss: nn.Module):
    case = cases()["some tokens"]
    assert_same_but_for_rounding(
        read(case.net, case.repeated, case.repeated_labels, loss=loss),
        read(case.net, case.x, case.y),
    )


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_nor_where_every_position_has_a_target_that_is_no_class(reduction: str):
    net, x, y, loss = make(Transformer, "each"), numbers(N, 3, D), numbers(N, 3, C), nn.MSELoss
    once, often = (
        read(
            net,
            x.repeat(1, times, 1),
            y.double().repeat(1, times, 1),
            loss=loss(reduction=reduction),
        )
        for times in (1, 11)
    )
    assert_same_but_for_rounding(often, once)


def test_the_gradient_at_a_cls_token_is_the_gradient_of_the_stream():
    """No option is needed; `token=0` says the same."""
    net, x, y = make(Transformer, "cls"), numbers(N, 40, D), labels(N)
    report, chosen = read(net, x, y), read(net, x, y, layout=Layout(token=0))
    with_graph = []
    for tokens, label in batches(x, y):
        h = net.blocks(torch.cat([net.cls.expand(1, 1, D), tokens], 1)).detach().requires_grad_()
        loss = nn.functional.cross_entropy(net.head(net.norm(h)[:, 0]), label)
        with_graph.append(torch.autograd.grad(loss, h)[0][0, 0].norm().item())
    assert report.reference.value == pytest.approx(sorted(with_graph)[(N - 1) // 2], rel=1e-9)
    assert report.reference.value == pytest.approx(chosen.reference.value, rel=1e-12)
    assert report.reference.over_error == pytest.approx(chosen.reference.over_error, rel=1e-12)


@pytest.mark.parametrize("readout", ["mean", "cls", "each"])
def test_16_and_512_tokens_have_one_verdict(readout: str):
    net, found = make(Transformer, readout), []
    for tokens in (16, 512):
        y = labels(N, tokens) if readout == "each" else labels(N)
        found.append(read(net, numbers(N, tokens, D), y))
    assert found[0].verdict == found[1].verdict == "no alarm, depth untested"
    assert found[1].reference.value == pytest.approx(found[0].reference.value, rel=0.3)
    assert found[1].scale.value == pytest.approx(found[0].scale.value, rel=0.3)


def test_32_and_224_pixels_have_one_verdict():
    """As published, 50,176 positions share what 1,024 shared: the larger one is walked back."""
    net, y = make(ResNet, 3), labels(2)
    small, large = (numbers(2, 3, side, side) for side in (32, 224))
    ours = [read(net, x, y) for x in (small, large)]
    assert [report.judgement.fired for report in ours] == [(), ()]
    assert ours[1].reference.value == pytest.approx(ours[0].reference.value, rel=0.1)
    assert ours[1].scale.value == pytest.approx(ours[0].scale.value, rel=0.1)
    published = [read(net, x, y, convention="published") for x in (small, large)]
    assert [report.judgement.fired for report in published] == [(), ("D2",)]


def test_the_published_convention_is_the_mean_over_positions():
    net, x, y = make(Transformer, "mean"), numbers(N, 10, D), labels(N)
    ours, published = read(net, x, y), read(net, x, y, convention="published")
    assert published.reference.per_layer == pytest.approx(
        [norm / 10 for norm in ours.reference.per_layer], rel=1e-12
    )
    assert published.reference.error == pytest.approx(ours.reference.error, rel=1e-12)
    assert published.scale.per_layer == ours.scale.per_layer
    assert published.reference.convention.startswith("published; ")
    watched = watch(net, convention="published", log_dir=None)(x.double(), y)
    assert watched.bp_grad_norms == pytest.approx(published.bp_grad_norms, rel=1e-12)


def test_with_one_position_both_conventions_are_one():
    net, x, y = make(Transformer, "each"), numbers(N, 1, D), labels(N, 1)
    ours, published = read(net, x, y), read(net, x, y, convention="published")
    assert ours.reference.per_layer == published.reference.per_layer
    assert ours.reference.over_error == published.reference.over_error


def test_half_of_the_positions_masked_leave_the_mean_of_the_others():
    """Each token's gradient is its own here: without blocks that mix them, labels just average."""
    net = Pointwise().double()
    x, y = numbers(1, 6, D).double(), labels(1, 6)
    alone = []
    for token in (0, 2, 5):
        gauge = ReferenceGauge()
        measure(StreamReader(net), [(x[:, token : token + 1], y[:, token : token + 1])], [gauge])
        alone.append(gauge.reading().value)
    y[:, [1, 3, 4]] = -100
    gauge = ReferenceGauge()
    measure(StreamReader(net), [(x, y)], [gauge])
    assert gauge.reading().value == pytest.approx(sum(alone) / 3, rel=1e-9)


class Pointwise(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks, self.head = nn.Sequential(nn.Linear(D, D), nn.Tanh()), nn.Linear(D, C)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(x))
