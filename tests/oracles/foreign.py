"""Readings of networks from elsewhere, by hand: part by part, one sample at a time.

Written from sections 2 and 7 of the protocol and from each network's own definition; it shares no
code with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import torch
from oracles.readings import lower_median
from torch import Tensor, nn
from torch.nn.functional import gelu

IGNORED = -100


@dataclass(frozen=True)
class Parts:
    """h_0 = start(x), h_{l+1} = blocks[l](h_l), logits = end(h_L), for one sample or many.

    `positions` makes one sample's stream (positions, features).
    """

    start: Callable[[Any], Tensor]
    blocks: list[Callable[[Tensor], Tensor]]
    end: Callable[[Tensor], Tensor]
    positions: Callable[[Tensor], Tensor]


def run(
    parts: Parts, inputs: Any, shift: tuple[int, Tensor] | None = None, skip: int | None = None
) -> tuple[list[Tensor], Tensor]:
    """Every state and the logits; with one state shifted, or one block left out."""
    boundary, amount = shift or (-1, torch.zeros(()))
    states = [parts.start(inputs)]
    for index, block in enumerate(parts.blocks):
        if index == boundary:
            states[-1] = states[-1] + amount
        states.append(states[-1] if index == skip else block(states[-1]))
    if boundary == len(parts.blocks):
        states[-1] = states[-1] + amount
    return states, parts.end(states[-1])


def gpt2(model: nn.Module) -> Parts:
    body = model.transformer

    def start(inputs: dict[str, Tensor]) -> Tensor:
        ids = inputs["input_ids"]
        return body.wte(ids) + body.wpe(torch.arange(ids.shape[1]))

    def run_block(block: nn.Module, h: Tensor) -> Tensor:
        query, key, value = block.attn.c_attn(block.ln_1(h)).chunk(3, -1)
        heads, later = block.attn.num_heads, torch.ones(h.shape[1], h.shape[1]).triu(1).bool()
        mixed = []
        for q, k, v in zip(*(part.chunk(heads, -1) for part in (query, key, value)), strict=True):
            scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
            mixed.append(scores.masked_fill(later, -math.inf).softmax(-1) @ v)
        h = h + block.attn.c_proj(torch.cat(mixed, -1))
        return h + block.mlp.c_proj(gelu(block.mlp.c_fc(block.ln_2(h)), approximate="tanh"))

    blocks = [lambda h, block=block: run_block(block, h) for block in body.h]
    return Parts(start, blocks, lambda h: model.lm_head(body.ln_f(h)), lambda h: h[0])


def vit(model: nn.Module) -> Parts:
    body, embeddings = model.vit, model.vit.embeddings

    def start(pixels: Tensor) -> Tensor:
        patches = embeddings.patch_embeddings.projection(pixels).flatten(2).transpose(1, 2)
        first = embeddings.cls_token.expand(len(pixels), -1, -1)
        return torch.cat([first, patches], 1) + embeddings.position_embeddings

    def run_block(block: nn.Module, h: Tensor) -> Tensor:
        out = block(h)
        return out[0] if isinstance(out, tuple) else out

    layers = body.layers if hasattr(body, "layers") else body.encoder.layer
    blocks = [lambda h, block=block: run_block(block, h) for block in layers]
    return Parts(start, blocks, lambda h: model.classifier(body.layernorm(h)[:, 0]), lambda h: h[0])


def _encoder_blocks(model: nn.Module) -> list[Callable[[Tensor], Tensor]]:
    def run_block(block: nn.Module, h: Tensor) -> Tensor:
        normed = block.norm1(h)
        h = h + block.self_attn(normed, normed, normed, need_weights=False)[0]
        return h + block.linear2(block.linear1(block.norm2(h)).relu())

    return [lambda h, block=block: run_block(block, h) for block in model.encoder.layers]


def encoder(model: nn.Module) -> Parts:
    blocks = _encoder_blocks(model)
    return Parts(model.embed, blocks, lambda h: model.head(h.mean(1)), lambda h: h[0])


def encoder_with_tokens_first(model: nn.Module) -> Parts:
    return Parts(
        lambda ids: model.embed(ids.T),
        _encoder_blocks(model),
        lambda h: model.head(h.mean(0)),
        lambda h: h[:, 0],
    )


def post_norm_cnn(model: nn.Module) -> Parts:
    def run_block(block: nn.Module, h: Tensor) -> Tensor:
        mean, variance, gain, bias = (
            value.view(1, -1, 1, 1)
            for value in (
                block.bn.running_mean,
                block.bn.running_var,
                block.bn.weight,
                block.bn.bias,
            )
        )
        normed = (block.conv(h) - mean) / (variance + block.bn.eps).sqrt()
        return (h + gain * normed + bias).clamp(min=0)

    blocks = [lambda h, block=block: run_block(block, h) for block in model.stages]
    return Parts(
        model.stem, blocks, lambda h: model.head(h.flatten(1)), lambda h: h[0].flatten(1).T
    )


@dataclass(frozen=True)
class Sample:
    """One sample: its norms, and what was named rightly.

    Norms of h_l are averaged over positions; those of g_l and e are summed over them and divided by
    the number of labels. `middle` is g at layer ⌊L/2⌋ for each label, (positions, features);
    `right_without[l]` is without block l.
    """

    h: list[float]
    g: list[float]
    e: float
    middle: Tensor
    counted: int
    right: int
    right_without: list[int]


def read_sample(parts: Parts, inputs: Any, labels: Tensor) -> Sample:
    """The gradient of this sample's own loss with respect to every state of the stream."""
    states, logits = run(parts, inputs)
    for tensor in (*states, logits):
        tensor.retain_grad()
    rows, classes = logits.double().flatten(0, -2), labels.reshape(-1)
    losses = [
        row.logsumexp(0) - row[label]
        for row, label in zip(rows, classes, strict=True)
        if label != IGNORED
    ]
    torch.stack(losses).sum().backward()
    gradients = [parts.positions(state.grad) for state in states]
    counted = int((labels != IGNORED).sum())
    others = [run(parts, inputs, skip=index)[1] for index in range(len(parts.blocks))]
    return Sample(
        [_mean(_norms(parts.positions(state.detach()))) for state in states],
        [math.fsum(_norms(gradient)) / counted for gradient in gradients],
        math.fsum(_norms(logits.grad.flatten(0, -2))) / counted,
        gradients[len(parts.blocks) // 2] / counted,
        counted,
        int((logits.argmax(-1) == labels).sum()),
        [int((other.argmax(-1) == labels).sum()) for other in others],
    )


def _norms(vectors: Tensor) -> list[float]:
    """Over features, one for each position."""
    return [v.square().sum().sqrt().item() for v in vectors.double()]


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def read(parts: Parts, batches: list[list[tuple[Any, Tensor]]]) -> dict[str, Any]:
    """All readings; a batch is a list of samples, each with its inputs and its labels."""
    read_batches = [[read_sample(parts, x, y) for x, y in batch] for batch in batches]
    samples = [sample for batch in read_batches for sample in batch]
    counted = sum(sample.counted for sample in samples)
    right = sum(sample.right for sample in samples)
    without = [sum(column) for column in zip(*(s.right_without for s in samples), strict=True)]
    norms = [lower_median(list(column)) for column in zip(*(s.h for s in samples), strict=True)]
    means = [
        torch.stack([sample.middle.double() for sample in batch]).mean((0, 1))
        for batch in read_batches
    ]
    pairs = [float(a @ b / (a @ a * (b @ b)).sqrt()) for a, b in combinations(means, 2)]
    return {
        "residual norms": norms,
        "growth": [after / before for before, after in pairwise(norms)],
        "gradients": [lower_median(list(c)) for c in zip(*(s.g for s in samples), strict=True)],
        "over error": lower_median([sample.g[-1] / sample.e for sample in samples]),
        "error": lower_median([sample.e for sample in samples]),
        "stability": math.fsum(pairs) / len(pairs),
        "accuracy": right / counted,
        "lesion": [(right - other) / counted for other in without],
    }
