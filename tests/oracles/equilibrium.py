"""Equilibrium Propagation by its energy: every step is autograd of E + β·CE, sample by sample.

Written from section 5 of the protocol; no code of the package is used.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def forward(net: nn.Module, x: Tensor) -> list[Tensor]:
    """h_0 … h_L of one sample: the free phase."""
    with torch.no_grad():
        states = [net.embed(x)]
        for block in net.blocks:
            states.append(expected(net, block, states[-1]))
    return states


def expected(net: nn.Module, block: nn.Module, below: Tensor) -> Tensor:
    """The next state without any error."""
    return below + block(below) if net.residual_add else block(below)


def errors(net: nn.Module, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    """ε_0 … ε_L."""
    found = [states[0] - net.embed(x).detach()]
    for index, block in enumerate(net.blocks):
        found.append(states[index + 1] - expected(net, block, states[index]))
    return found


def total(net: nn.Module, x: Tensor, label: int, states: list[Tensor], beta: float) -> Tensor:
    """E + β·CE."""
    energy = sum((0.5 * (error**2).sum() for error in errors(net, x, states)), torch.tensor(0.0))
    return energy - beta * torch.log_softmax(net.out_head(net.out_ln(states[-1])), 0)[label]


def strength(net: nn.Module, x: Tensor, options: Any) -> float:
    """β of one sample: in units of the mean square of its last state."""
    last = forward(net, x)[-1].tolist()
    return float(options.nudge * sum(value**2 for value in last) / len(last))


def nudged(net: nn.Module, x: Tensor, label: int, options: Any) -> list[Tensor]:
    """One state after the other goes down, from the last to the first; so many sweeps."""
    states, beta = forward(net, x), strength(net, x, options)
    for _ in range(options.steps):
        for index in reversed(range(len(states))):
            moving = states[index].clone().requires_grad_(True)
            others = [*states[:index], moving, *states[index + 1 :]]
            (slope,) = torch.autograd.grad(total(net, x, label, others, beta), moving)
            states[index] = states[index] - options.step_size * slope
    return states


def credit(net: nn.Module, x: Tensor, y: Tensor, options: Any) -> list[Tensor]:
    """The embedding's, then each block's, each (samples, d)."""
    rows = []
    for one, label in zip(x, y.tolist(), strict=True):
        states = nudged(net, one, label, options)
        left = (
            [end - free for end, free in zip(states, forward(net, one), strict=True)]
            if options.credit == "displacement"
            else errors(net, one, states)
        )
        rows.append([-part.detach() / strength(net, one, options) for part in left])
    return [torch.stack(layer) for layer in zip(*rows, strict=True)]
