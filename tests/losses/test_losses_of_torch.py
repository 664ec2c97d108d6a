"""Readings under torch's own losses are autograd's, one sample at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from depthgauge import diagnose
from depthgauge.gauges.measure import measure
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.nets.stream_reader import StreamReader

N, D, C, L, T = 12, 8, 5, 3, 4


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.fc = nn.LayerNorm(D), nn.Linear(D, D)

    def forward(self, h: Tensor) -> Tensor:
        return h + self.fc(self.norm(h)).tanh()


class Net(nn.Module):
    """Works on (samples, d) and on (samples, tokens, d); `end` is what its loss wants."""

    def __init__(self, end: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(L)])
        self.head, self.end = nn.Linear(D, C), end

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.head(self.blocks(x)))


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def make(end: Callable[[Tensor], Tensor]) -> Net:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return Net(end)


def plainly(z: Tensor) -> Tensor:
    return z


log_shares = partial(torch.log_softmax, dim=-1)
CLASSES, TOKENS = torch.arange(N) % C, torch.arange(N * T).view(N, T) % C
SOME_TOKENS = TOKENS.masked_fill(TOKENS == 1, -100)
WEIGHT = torch.tensor([1.0, 0.3, 2.0, 5.0, 0.7])
VALUES, SHARES = numbers(N, C, seed=1), numbers(N, C, seed=2).softmax(-1)
BITS = (VALUES > 0).float()

CASES: dict[str, tuple[Any, Tensor, Callable[[Tensor], Tensor]]] = {
    "mse": (nn.MSELoss(), VALUES, plainly),
    "mse sum": (nn.MSELoss(reduction="sum"), VALUES, plainly),
    "mse none": (nn.MSELoss(reduction="none"), VALUES, plainly),
    "mse function": (functional.mse_loss, VALUES, plainly),
    "mse of one number": (nn.MSELoss(), VALUES[:, 0], lambda z: z[:, 0]),
    "mse of tokens": (nn.MSELoss(), numbers(N, T, C, seed=4), plainly),
    "l1": (nn.L1Loss(), VALUES, plainly),
    "smooth l1": (nn.SmoothL1Loss(beta=0.3), VALUES, plainly),
    "huber": (nn.HuberLoss(delta=0.4), VALUES, plainly),
    "huber function": (partial(functional.huber_loss, delta=0.4), VALUES, plainly),
    "ce": (nn.CrossEntropyLoss(), CLASSES, plainly),
    "ce smoothed": (nn.CrossEntropyLoss(label_smoothing=0.2), CLASSES, plainly),
    "ce weighted": (nn.CrossEntropyLoss(weight=WEIGHT), CLASSES, plainly),
    "ce both": (nn.CrossEntropyLoss(weight=WEIGHT, label_smoothing=0.2), CLASSES, plainly),
    "ce both, sum": (
        nn.CrossEntropyLoss(weight=WEIGHT, label_smoothing=0.2, reduction="sum"),
        CLASSES,
        plainly,
    ),
    "ce none": (nn.CrossEntropyLoss(weight=WEIGHT, reduction="none"), CLASSES, plainly),
    "ce function": (
        partial(functional.cross_entropy, weight=WEIGHT, label_smoothing=0.2),
        CLASSES,
        plainly,
    ),
    "ce of shares": (nn.CrossEntropyLoss(label_smoothing=0.1), SHARES, plainly),
    "nll": (nn.NLLLoss(weight=WEIGHT), CLASSES, log_shares),
    "bce": (nn.BCEWithLogitsLoss(), BITS, plainly),
    "bce weighted": (nn.BCEWithLogitsLoss(pos_weight=WEIGHT), BITS, plainly),
    "bce function": (
        partial(functional.binary_cross_entropy_with_logits, pos_weight=WEIGHT),
        BITS,
        plainly,
    ),
    "bce of shares": (nn.BCELoss(), BITS, torch.sigmoid),
    "kl": (nn.KLDivLoss(), SHARES, log_shares),
    "kl batchmean": (nn.KLDivLoss(reduction="batchmean"), SHARES, log_shares),
    "margin": (nn.MultiMarginLoss(margin=0.5), CLASSES, plainly),
    "ce of tokens": (
        nn.CrossEntropyLoss(weight=WEIGHT, label_smoothing=0.2),
        TOKENS,
        plainly,
    ),
    "ce of some tokens": (nn.CrossEntropyLoss(label_smoothing=0.2), SOME_TOKENS, plainly),
    "ce of tokens, sum": (nn.CrossEntropyLoss(reduction="sum"), SOME_TOKENS, plainly),
    "ce but for one class": (nn.CrossEntropyLoss(ignore_index=2), TOKENS, plainly),
    "ce function but for one class": (
        partial(functional.cross_entropy, ignore_index=2),
        TOKENS,
        plainly,
    ),
}


def autograd(net: Net, loss: Any, x: Tensor, labels: Tensor) -> tuple[list[Tensor], list[float]]:
    """g_0 … g_L and the loss of every sample, each alone in a batch of one."""
    gradients: list[list[Tensor]] = []
    losses = []
    for index in range(N):
        state, states = x[index : index + 1].clone().requires_grad_(), []
        states.append(state)
        for block in net.blocks:
            states.append(block(states[-1]))
        answer = net.end(net.head(states[-1]))
        if answer.dim() > 2 and not labels.is_floating_point():
            answer = answer.movedim(-1, 1)
        value = loss(answer, labels[index : index + 1]).sum()
        gradients.append(list(torch.autograd.grad(value, states)))
        losses.append(value.item())
    return [torch.cat(of_layer) for of_layer in zip(*gradients, strict=True)], losses


def in_float64(loss: Any) -> Any:
    if isinstance(loss, nn.Module):
        return copy.deepcopy(loss).double()
    given = getattr(loss, "keywords", {})
    given = {name: v.double() if isinstance(v, Tensor) else v for name, v in given.items()}
    return partial(getattr(loss, "func", loss), **given)


@pytest.mark.parametrize("case", CASES)
def test_gradients_and_losses_are_those_of_autograd(case: str):
    loss, labels, end = CASES[case]
    net, x = make(end).double(), numbers(N, *([T] if labels.shape[1:2] == (T,) else []), D).double()
    if labels.is_floating_point():
        labels = labels.double()
    expected, losses = autograd(net, in_float64(loss), x, labels)
    seen = StreamReader(net, loss=loss).see(x, labels)
    assert seen.losses.tolist() == pytest.approx(losses, rel=1e-9)
    for found, gradient in zip(seen.gradients, expected, strict=True):
        assert (found - gradient).abs().max() <= 1e-9 * gradient.abs().max()


@pytest.mark.parametrize("case", [case for case, (_, y, _) in CASES.items() if T not in y.shape])
def test_the_readings_are_the_medians_of_their_norms(case: str):
    loss, labels, end = CASES[case]
    net, x = make(end), numbers(N, D)
    expected, _ = autograd(net, loss, x, labels)
    report = diagnose(net, [(x, labels)], loss=loss)
    norms = [g.norm(dim=1).median().item() for g in expected]
    assert report.bp_grad_norms == pytest.approx(norms, rel=1e-6)


def test_the_mean_of_torch_over_tokens_reads_as_our_sum():
    """Whoever hands over the loss that trains the network gets what the default says."""
    net, x = make(plainly), numbers(N, T, D)
    readings = []
    for options in (
        {},
        {"loss": nn.CrossEntropyLoss()},
        {"loss": nn.CrossEntropyLoss(reduction="sum")},
    ):
        gauge = ReferenceGauge()
        measure(StreamReader(net, **options), [(x, SOME_TOKENS)], [gauge])
        readings.append(gauge.reading())
    for reading in readings[1:]:
        assert reading.per_layer == pytest.approx(readings[0].per_layer, rel=1e-6)
        assert reading.error == pytest.approx(readings[0].error, rel=1e-9)
        assert reading.over_error == pytest.approx(readings[0].over_error, rel=1e-6)


def test_a_label_that_torch_is_to_ignore_counts_nowhere():
    net, x = make(plainly), numbers(N, T, D)
    ours, theirs = (
        diagnose(net, [(x, labels)], loss=loss)
        for labels, loss in [
            (SOME_TOKENS, nn.CrossEntropyLoss()),
            (
                SOME_TOKENS.masked_fill(SOME_TOKENS == -100, 77),
                nn.CrossEntropyLoss(ignore_index=77),
            ),
        ]
    )
    assert theirs.readings == ours.readings
