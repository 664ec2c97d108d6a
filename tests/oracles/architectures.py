"""The forward passes of the package's networks by hand: one sample, head and position at a time.

Every function takes the weights by name, as `state_dict` returns them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

Weights = Mapping[str, Tensor]
EPSILON = 1e-5


def part(weights: Weights, prefix: str) -> dict[str, Tensor]:
    """The weights of one module."""
    return {name[len(prefix) :]: w for name, w in weights.items() if name.startswith(prefix)}


def linear(w: Weights, x: Tensor) -> Tensor:
    return x @ w["weight"].T + w["bias"]


def layer_norm(w: Weights, x: Tensor) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + EPSILON) * w["weight"] + w["bias"]


def gelu(x: Tensor) -> Tensor:
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


def attention(w: Weights, x: Tensor, heads: int, causal: bool) -> Tensor:
    """Attention on one sample (positions, width), position by position."""
    positions, width = x.shape
    size = width // heads
    query, key, value = linear(part(w, "qkv."), x).split(width, -1)
    out = torch.zeros_like(x)
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        for i in range(positions):
            seen = range(i + 1) if causal else range(positions)
            scores = [float(query[i, own] @ key[j, own]) / math.sqrt(size) for j in seen]
            powers = [math.exp(score) for score in scores]
            for j, power in zip(seen, powers, strict=True):
                out[i, own] += power / sum(powers) * value[j, own]
    return linear(part(w, "out."), out)


def transformer_block(w: Weights, x: Tensor, heads: int, causal: bool) -> Tensor:
    x = x + attention(part(w, "attention."), layer_norm(part(w, "ln1."), x), heads, causal)
    wide = gelu(linear(part(w, "fc1."), layer_norm(part(w, "ln2."), x)))
    return x + linear(part(w, "fc2."), wide)


def gpt(w: Weights, tokens: Tensor, *, blocks: int, heads: int, per_position: bool) -> Tensor:
    answers = []
    for sample in tokens:
        rows = [
            w["embed.token.weight"][token] + w["embed.position.weight"][place]
            for place, token in enumerate(sample.tolist())
        ]
        stream = torch.stack(rows)
        for block in range(blocks):
            stream = transformer_block(part(w, f"blocks.{block}."), stream, heads, causal=True)
        logits = linear(part(w, "readout.head."), layer_norm(part(w, "readout.ln."), stream))
        answers.append(logits if per_position else logits[-1])
    return torch.stack(answers)


def vit(w: Weights, images: Tensor, *, blocks: int, heads: int, patch: int, pool: str) -> Tensor:
    kernel, bias = w["embed.patches.weight"], w["embed.patches.bias"]
    answers = []
    for image in images:
        _, height, width = image.shape
        rows = [] if pool == "mean" else [w["embed.token"][0, 0]]
        for top in range(0, height, patch):
            for left in range(0, width, patch):
                pixels = image[:, top : top + patch, left : left + patch]
                rows.append(kernel.flatten(1) @ pixels.flatten() + bias)
        stream = torch.stack(rows) + w["embed.position"][0]
        for block in range(blocks):
            stream = transformer_block(part(w, f"blocks.{block}."), stream, heads, causal=False)
        normed = layer_norm(part(w, "readout.ln."), stream)
        read = normed.mean(0) if pool == "mean" else normed[0]
        answers.append(linear(part(w, "readout.head."), read))
    return torch.stack(answers)


def convolve(x: Tensor, kernel: Tensor, stride: int = 1) -> Tensor:
    """Convolve one image (channels, height, width), pixel by pixel, with zeros around it."""
    out, _, side, _ = kernel.shape
    around = side // 2
    padded = torch.nn.functional.pad(x, (around,) * 4)
    height = (x.shape[1] - 1) // stride + 1
    width = (x.shape[2] - 1) // stride + 1
    result = x.new_zeros(out, height, width)
    for i in range(height):
        for j in range(width):
            top, left = i * stride, j * stride
            window = padded[:, top : top + side, left : left + side]
            result[:, i, j] = (kernel * window).sum((1, 2, 3))
    return result


def norm(w: Weights, x: Tensor, groups: int) -> Tensor:
    """GroupNorm, or BatchNorm in training, over a batch (samples, channels, height, width)."""
    result = torch.empty_like(x)
    if groups == 0:
        for channel in range(x.shape[1]):
            values = x[:, channel]
            variance = values.var(correction=0)
            result[:, channel] = (values - values.mean()) / torch.sqrt(variance + EPSILON)
    else:
        size = x.shape[1] // groups
        for sample in range(len(x)):
            for group in range(groups):
                own = slice(group * size, (group + 1) * size)
                values = x[sample, own]
                variance = values.var(correction=0)
                result[sample, own] = (values - values.mean()) / torch.sqrt(variance + EPSILON)
    return result * w["weight"].view(-1, 1, 1) + w["bias"].view(-1, 1, 1)


def convolve_all(images: Tensor, kernel: Tensor, stride: int = 1) -> Tensor:
    return torch.stack([convolve(image, kernel, stride) for image in images])


def resnet(w: Weights, images: Tensor, *, strides: list[int], groups: list[int]) -> Tensor:
    """`groups` are those of each block's two norms, then of the readout's; 0 is BatchNorm."""
    stream = convolve_all(images, w["embed.weight"])
    for block, stride in enumerate(strides):
        own = part(w, f"blocks.{block}.")
        first, second = groups[2 * block], groups[2 * block + 1]
        branch = norm(part(own, "norm1."), stream, first).relu()
        branch = convolve_all(branch, own["conv1.weight"], stride)
        branch = norm(part(own, "norm2."), branch, second).relu()
        branch = convolve_all(branch, own["conv2.weight"])
        shortcut = own.get("shortcut.weight")
        stream = branch + (stream if shortcut is None else convolve_all(stream, shortcut, stride))
    read = norm(part(w, "readout.norm."), stream, groups[-1]).relu().mean((2, 3))
    return linear(part(w, "readout.head."), read)


def cnn(w: Weights, images: Tensor, *, blocks: int) -> Tensor:
    answers = []
    for image in images:
        x = convolve(image, w["embed.0.weight"]) + w["embed.0.bias"].view(-1, 1, 1)
        x = x.relu()
        for block in range(blocks - 1):
            own = part(w, f"blocks.{block}.0.")
            x = (convolve(x, own["weight"]) + own["bias"].view(-1, 1, 1)).relu()
            height, width = x.shape[1] // 2, x.shape[2] // 2
            corners = [x[:, i : 2 * height : 2, j : 2 * width : 2] for i in (0, 1) for j in (0, 1)]
            x = torch.stack(corners).amax(0)
        flat = x.flatten()
        if blocks:
            flat = linear(part(w, f"blocks.{blocks - 1}.1."), flat).relu()
        answers.append(linear(part(w, "readout.1."), flat))
    return torch.stack(answers)
