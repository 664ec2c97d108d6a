"""The rules on streams with positions, as one would first write them: place after place.

A sample's state is (features,), (tokens, features) or (channels, height, width). Loops go over
samples, places and features; no code of the package is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import torch
from oracles.bridges import SlowCreditBridge, SlowStateBridge, seen, size
from torch import Tensor, nn

Place = tuple[int, ...]


def places(h: Tensor) -> list[Place]:
    """Every place of one sample's state, row after row."""
    sizes = h.shape[1:] if h.dim() == 3 else h.shape[:-1]
    return list(product(*map(range, sizes)))


def at(h: Tensor, place: Place) -> Tensor:
    """The features at a place."""
    return h[(slice(None), *place)] if h.dim() == 3 else h[place]


def build(shape: Sequence[int], vector_at: Callable[[Place], Tensor]) -> Tensor:
    """A sample's tensor of this shape, from the features at each place."""
    like = torch.empty(tuple(shape))
    rows = torch.stack([vector_at(place) for place in places(like)])
    if like.dim() == 3:
        return rows.T.reshape(like.shape)
    return rows.reshape(like.shape)


def error_at(error: Tensor, number: int, count: int) -> Tensor:
    """A token's own error where there is one for each place, else the sum over all tokens."""
    if error.dim() == 1:
        return error
    return error[number] if len(error) == count else sum(error)


def direct(source: Tensor, matrices: Sequence[Tensor], states: Sequence[Tensor]) -> list[Tensor]:
    """B·e at each place of each state, (samples, …); one matrix for each state."""

    def of_sample(e: Tensor, matrix: Tensor, h: Tensor) -> Tensor:
        found = places(h)
        numbers = {place: number for number, place in enumerate(found)}
        return build(h.shape, lambda p: matrix @ error_at(e, numbers[p], len(found)))

    return [
        torch.stack([of_sample(e, matrix, h) for e, h in zip(source, state, strict=True)])
        for matrix, state in zip(matrices, states, strict=True)
    ]


def direct_full(
    source: Tensor, matrices: Sequence[Tensor], states: Sequence[Tensor]
) -> list[Tensor]:
    """One matrix from all entries of the error to all entries of the state."""
    return [
        torch.stack([(matrix @ e.flatten()).view(state.shape[1:]) for e in source])
        for matrix, state in zip(matrices, states, strict=True)
    ]


def overlapping(place: Place, sizes: Sequence[int], above: Sequence[int]) -> list[Place]:
    """The places above that a place overlaps, if both grids cover the same area."""
    ranges = [
        range(math.floor(i * many / few), math.ceil((i + 1) * many / few))
        for i, few, many in zip(place, sizes, above, strict=True)
    ]
    return list(product(*ranges))


def alignment(last: Tensor, matrices: Sequence[Tensor], states: Sequence[Tensor]) -> list[Tensor]:
    """FA's chain of credit for h_0 … h_L; `last` is the gradient of the batch's mean loss."""

    def below(credit: Tensor, matrix: Tensor, h: Tensor) -> Tensor:
        sizes, above = (
            [max(column) + 1 for column in zip(*places(t), strict=True)] for t in (h, credit)
        )

        def vector(place: Place) -> Tensor:
            seen_above = [at(credit, other) for other in overlapping(place, sizes, above)]
            return matrix @ (sum(seen_above) / len(seen_above))

        return build(h.shape, vector)

    chain = [last]
    for matrix, state in zip(reversed(matrices), reversed(states[:-1]), strict=True):
        chain.insert(
            0, torch.stack([below(a, matrix, h) for a, h in zip(chain[0], state, strict=True)])
        )
    return chain


def shuffled(gradient: Tensor, noise: Tensor) -> Tensor:
    """Noise with the norm of each sample's gradient, over all its entries."""
    rows = []
    for g, n in zip(gradient, noise, strict=True):
        rows.append(n * math.sqrt(float((g**2).sum())) / math.sqrt(float((n**2).sum())))
    return torch.stack(rows)


class FlatNet:
    """A network of one sample whose states are flat vectors, for the oracles of bridges and EP."""

    def __init__(self, net: nn.Module, shape: Sequence[int]) -> None:
        self.net, self.shape, self.residual_add = net, tuple(shape), True
        self.blocks = [self.flat(block) for block in net.blocks]
        self.out_ln: Callable[[Tensor], Tensor] = lambda h: h

    def flat(self, block: nn.Module) -> Callable[[Tensor], Tensor]:
        return lambda h: block(h.view(1, *self.shape)).flatten()

    def embed(self, x: Tensor) -> Tensor:
        return self.net.embed(x.unsqueeze(0)).flatten()

    def out_head(self, h: Tensor) -> Tensor:
        return self.net.readout(h.view(1, *self.shape))[0]


def flat(states: Sequence[Tensor]) -> list[Tensor]:
    return [state.flatten(1) for state in states]


class StreamStateBridge(SlowStateBridge):
    """G acts on the features of each place."""

    def predict(self, h: Tensor, t: float, e: Tensor) -> Tensor:
        whole, shape = size(h), self.readout.net.shape

        def vector(place: Place) -> Tensor:
            own = at((h / whole).view(shape), place)
            inputs = seen(own, t, e, self.options.frequencies)
            inputs = torch.cat([own, inputs[len(own) :]])
            return whole * self.network(inputs)

        change = build(shape, vector).flatten()
        return h + change if self.options.skip else change


class StreamCreditBridge(SlowCreditBridge):
    """V is the sum over places of a network of each place's features."""

    def value(self, network: nn.Module, h: Tensor, t: float, e: Tensor) -> Tensor:
        shape, total = self.readout.net.shape, torch.zeros((), dtype=h.dtype)
        scaled = (h / size(h)).view(shape)
        for place in places(scaled):
            own = at(scaled, place)
            inputs = seen(own, t, e, self.options.frequencies)
            total = total + network(torch.cat([own, inputs[len(own) :]]))[0]
        return total
