"""Null calibration as it is usually scripted: for every draw, everything again.

Forward, backward, credit and cosines, plainly; it shares no code with the package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

FIRST_SEED = 10000

Batch = tuple[Tensor, Tensor]


def fresh_feedback(net: nn.Module, rule: str, draw: int) -> list[Tensor]:
    classes, width = net.out_head.weight.shape
    columns = classes if rule == "dfa" else width
    torch.manual_seed(FIRST_SEED + draw)
    return [torch.randn(width, columns) / math.sqrt(columns) for _ in net.blocks]


def alignment(
    net: nn.Module, batch: Batch, rule: str, Bs: Sequence[Tensor], convention: str
) -> list[float]:
    """Mean cosine at the layers 0 … L."""
    x, y = batch
    states = [net.embed(x)]
    for block in net.blocks:
        states.append(states[-1] + block(states[-1]))
    logits = net.out_head(net.out_ln(states[-1]))
    gradients = torch.autograd.grad(cross_entropy(logits, y, reduction="sum"), states)
    if rule == "dfa":
        error = logits.softmax(1).detach() - one_hot(y, logits.shape[1])
        blocks = [error @ B.T for B in Bs]
        embed = blocks[0]
    else:
        blocks = [gradients[-1] / len(y)]
        for B in reversed(Bs[1:]):
            blocks.insert(0, blocks[0] @ B.T)
        embed = blocks[0] @ Bs[0].T
    last = len(blocks) - 1
    compared = (
        [blocks[min(layer, last)] for layer in range(len(states))]
        if convention == "published"
        else [embed, *blocks]
    )
    return [mean_cosine(a, g) for a, g in zip(compared, gradients, strict=True)]


def mean_cosine(a: Tensor, g: Tensor) -> float:
    cosines = []
    for one, other in zip(a.double(), g.double(), strict=True):
        lengths = math.sqrt(float(one @ one)) * math.sqrt(float(other @ other))
        cosines.append(float(one @ other) / lengths)
    return sum(cosines) / len(cosines)


def null_loop(
    net: nn.Module, batch: Batch, rule: str, draws: int, convention: str = "depthgauge"
) -> list[list[float]]:
    """For each draw the alignment at every layer."""
    with torch.random.fork_rng(devices=[]):
        return [
            alignment(net, batch, rule, fresh_feedback(net, rule, draw), convention)
            for draw in range(draws)
        ]
