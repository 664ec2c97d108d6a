"""Every gauge the slow way: one sample at a time, plain autograd, float64.

Written from sections 2, 7 and 8 of the protocol; it shares no code with the package.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from oracles.readings import lower_median
from scipy.stats import pearsonr
from torch import Tensor, nn

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Sample:
    """One sample: h_l and g_l for l = 0 … L, and what came out at the end."""

    label: int
    states: list[Tensor]
    gradients: list[Tensor]
    logits: Tensor
    error: Tensor
    loss: float


CreditOfSample = Callable[[Sample], list[Tensor]]
"""L + 1 vectors, that of the embedding first."""


def length(vector: Tensor) -> float:
    return math.sqrt(math.fsum(value * value for value in vector.tolist()))


def cosine(a: Tensor, b: Tensor) -> float:
    return math.fsum((a * b).tolist()) / length(a) / length(b)


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


class SlowNet:
    """A residual network in float64, walked through by hand."""

    def __init__(self, net: nn.Module) -> None:
        self.net = copy.deepcopy(net).double().eval()
        self.depth = len(self.net.blocks)

    def walk(self, stream: Tensor, layer: int = 0, without: int | None = None) -> list[Tensor]:
        """h_layer … h_L and the logits; one block may be left out."""
        passed = [stream]
        for index in range(layer, self.depth):
            if index != without:
                branch = self.net.blocks[index](stream)
                stream = stream + branch if self.net.residual_add else branch
            passed.append(stream)
        return [*passed, self.net.out_head(self.net.out_ln(stream))]

    def loss_from(self, stream: Tensor, layer: int, label: int) -> Tensor:
        """−log p(label) when h_layer is `stream`."""
        logits = self.walk(stream, layer)[-1]
        return logits.logsumexp(0) - logits[label]

    def sample(self, x: Tensor, label: int) -> Sample:
        *states, logits = self.walk(self.net.embed(x.double()))
        loss = logits.logsumexp(0) - logits[label]
        gradients = torch.autograd.grad(loss, states)
        error = logits.detach().softmax(0)
        error[label] -= 1
        return Sample(
            label,
            [state.detach() for state in states],
            list(gradients),
            logits.detach(),
            error,
            loss.item(),
        )

    def samples(self, batches: Sequence[Batch]) -> list[list[Sample]]:
        return [
            [self.sample(one, int(label)) for one, label in zip(x, y, strict=True)]
            for x, y in batches
        ]


def _medians(rows: Sequence[Sequence[float]]) -> list[float]:
    return [lower_median(list(column)) for column in zip(*rows, strict=True)]


def residual_norms(samples: Sequence[Sample]) -> list[float]:
    return _medians([[length(h) for h in sample.states] for sample in samples])


def gradient_norms(samples: Sequence[Sample]) -> list[float]:
    return _medians([[length(g) for g in sample.gradients] for sample in samples])


def error_share(samples: Sequence[Sample]) -> float:
    return lower_median([length(s.gradients[-1]) / length(s.error) for s in samples])


def stability(batches: Sequence[Sequence[Sample]]) -> float:
    middle = (len(batches[0][0].states) - 1) // 2
    means = [sum(sample.gradients[middle] for sample in batch) / len(batch) for batch in batches]
    return mean([cosine(a, b) for a, b in combinations(means, 2)])


def alignment(samples: Sequence[Sample], credit: CreditOfSample) -> list[float]:
    rows = [
        [cosine(a, g) for a, g in zip(credit(sample), sample.gradients, strict=True)]
        for sample in samples
    ]
    return [mean(column) for column in zip(*rows, strict=True)]


def direct_feedback(matrices: Sequence[Tensor], convention: str) -> CreditOfSample:
    """e·Bᵀ at the layers 0 … L: B_0, B_0, B_1, …; as published B_0, B_1, …, B_{L−1}, B_{L−1}."""
    last = len(matrices) - 1
    shift = 0 if convention == "published" else 1
    chosen = [matrices[min(max(layer - shift, 0), last)] for layer in range(last + 2)]
    return lambda sample: [matrix @ sample.error for matrix in chosen]


def step_size(step: float, state: Tensor, convention: str) -> float:
    return step if convention == "published" else step * length(state) / math.sqrt(len(state))


def perturbation(
    slow: SlowNet,
    batches: Sequence[Sequence[Sample]],
    credit: CreditOfSample,
    convention: str,
    directions: int,
) -> list[float]:
    """Pearson's correlation at each layer; directions are drawn as the gauge says it draws them.

    NaN where the changes are so small beside the loss that rounding decides.
    """
    generator = torch.Generator().manual_seed(0)
    layers = range(slow.depth + 1)
    predicted: list[list[float]] = [[] for _ in layers]
    measured: list[list[float]] = [[] for _ in layers]
    for batch in batches:
        for layer in layers:
            for _ in range(directions):
                shape = len(batch), len(batch[0].states[layer])
                noise = torch.randn(shape, generator=generator, dtype=torch.float64)
                for sample, v in zip(batch, noise, strict=True):
                    state = sample.states[layer]
                    shift = v * (step_size(1e-3, state, convention) / length(v))
                    after = slow.loss_from(state + shift, layer, sample.label).item()
                    predicted[layer].append(float(credit(sample)[layer] @ shift))
                    measured[layer].append(after - sample.loss)
    largest = max(abs(sample.loss) for batch in batches for sample in batch)
    return [
        float(pearsonr(a, b).statistic) if max(map(abs, b)) > 1e-8 * largest else math.nan
        for a, b in zip(predicted, measured, strict=True)
    ]


def nudging(
    slow: SlowNet, samples: Sequence[Sample], credit: CreditOfSample, convention: str
) -> list[list[float]]:
    """For each layer, the change of every sample's loss after a step against its credit."""
    changes: list[list[float]] = [[] for _ in range(slow.depth + 1)]
    for sample in samples:
        for layer, (state, given) in enumerate(zip(sample.states, credit(sample), strict=True)):
            step = step_size(1e-2, state, convention) / length(given)
            after = slow.loss_from(state - step * given, layer, sample.label).item()
            changes[layer].append(after - sample.loss)
    return changes


def lesion(slow: SlowNet, batches: Sequence[Batch]) -> list[float]:
    """The share of samples lost without each block."""

    def right(without: int | None) -> int:
        return sum(
            int(slow.walk(slow.net.embed(one.double()), 0, without)[-1].argmax()) == int(label)
            for x, y in batches
            for one, label in zip(x, y, strict=True)
        )

    total = sum(len(y) for _, y in batches)
    return [(right(None) - right(index)) / total for index in range(slow.depth)]


def rewind(net: nn.Module, initial: nn.Module, batches: Sequence[Batch]) -> list[float]:
    """The share of samples lost with each block of the network taken from the initial one."""

    def right(block: int | None) -> int:
        slow = SlowNet(net)
        if block is not None:
            slow.net.blocks[block] = copy.deepcopy(initial.blocks[block]).double()
        return sum(
            int(slow.walk(slow.net.embed(one.double()))[-1].argmax()) == int(label)
            for x, y in batches
            for one, label in zip(x, y, strict=True)
        )

    total = sum(len(y) for _, y in batches)
    return [(right(None) - right(block)) / total for block in range(len(net.blocks))]
