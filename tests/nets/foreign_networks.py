"""Small networks from elsewhere, at random initialisation, with batches to measure them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from oracles import foreign
from oracles.foreign import Parts
from torch import Tensor, nn

from depthgauge.nets.layout import Layout
from depthgauge.nets.stream_reader import StreamReader

CLASSES, TOKENS, WORDS, WIDTH, DEPTH = 5, 6, 13, 12, 3
BATCH_SIZES = [5, 4, 5, 5, 4, 5, 5, 4, 3]


@dataclass(frozen=True)
class Foreign:
    """A network, where its blocks are, how its stream lies, and its parts to be run by hand."""

    model: nn.Module
    blocks: str
    batches: list[Any]
    parts: Callable[[nn.Module], Parts]
    layout: Layout | None = None

    def reader(self) -> StreamReader:
        return StreamReader(self.model, self.blocks, layout=self.layout)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def words(count: int, seed: int = 0) -> Tensor:
    return torch.randint(WORDS, (count, TOKENS), generator=torch.Generator().manual_seed(seed))


def roughen(model: nn.Module) -> nn.Module:
    """No bias, gain or running statistic stays at a value that a reading by hand could forget."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.rand(parameter.shape, generator=generator) - 0.15)
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean += torch.rand(module.num_features, generator=generator) - 0.5
                module.running_var += torch.rand(module.num_features, generator=generator)
    return model


def half_right(answers: Tensor, seed: int) -> Tensor:
    """Labels of which about half are what the network says, so that accuracy can be lost."""
    generator = torch.Generator().manual_seed(seed)
    other = torch.randint(answers.shape[-1], answers.shape[:-1], generator=generator)
    keep = torch.rand(other.shape, generator=generator) < 0.5
    return torch.where(keep, answers.argmax(-1), other)


def pairs(model: nn.Module, inputs: Callable[[int, int], Tensor]) -> list[Any]:
    batches = []
    model.eval()
    for seed, size in enumerate(BATCH_SIZES):
        x = inputs(size, seed)
        with torch.no_grad():
            answer = model(x)
        batches.append((x, half_right(getattr(answer, "logits", answer), seed)))
    model.train()
    return batches


def gpt2() -> Foreign:
    """Labels per token, some of which do not count; batches are mappings."""
    transformers = pytest.importorskip("transformers", reason="networks of Hugging Face")
    config = transformers.GPT2Config(
        vocab_size=WORDS,
        n_positions=TOKENS + 2,
        n_embd=WIDTH,
        n_layer=DEPTH,
        n_head=2,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = roughen(transformers.GPT2LMHeadModel(config))
    batches = []
    for seed, (ids, labels) in enumerate(pairs(model, words)):
        ignored = numbers(*labels.shape, seed=seed) > 0.7
        batches.append({"input_ids": ids, "labels": labels.masked_fill(ignored, -100)})
    return Foreign(model, "transformer.h", batches, foreign.gpt2)


def vit() -> Foreign:
    """A class token and patches."""
    transformers = pytest.importorskip("transformers", reason="networks of Hugging Face")
    config = transformers.ViTConfig(
        image_size=8,
        patch_size=4,
        hidden_size=WIDTH,
        num_hidden_layers=DEPTH,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        num_labels=CLASSES,
        initializer_range=0.4,
        hidden_dropout_prob=0.2,
    )
    model = roughen(transformers.ViTForImageClassification(config))
    path = "vit.layers" if hasattr(model.vit, "layers") else "vit.encoder.layer"
    batches = pairs(model, lambda size, seed: numbers(size, 3, 8, 8, seed=seed))
    return Foreign(model, path, batches, foreign.vit)


class Encoder(nn.Module):
    """torch.nn.TransformerEncoder between an embedding and a readout of the mean token."""

    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            WIDTH, 2, 2 * WIDTH, dropout=0.2, batch_first=batch_first, norm_first=True
        )
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, CLASSES)
        self.batch_first = batch_first

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.embed(ids if self.batch_first else ids.T)
        return self.head(self.encoder(stream).mean(1 if self.batch_first else 0))


def encoder(batch_first: bool = True) -> Foreign:
    model = roughen(Encoder(batch_first))
    layout = Layout(sample_axis=0 if batch_first else 1)
    parts = foreign.encoder if batch_first else foreign.encoder_with_tokens_first
    return Foreign(model, "encoder.layers", pairs(model, words), parts, layout)


def encoder_with_tokens_first() -> Foreign:
    return encoder(batch_first=False)


class PostNormBlock(nn.Module):
    """relu(h + bn(conv(h))), the ReLU in place: the stream has no untouched way through."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, h: Tensor) -> Tensor:
        return self.relu(h + self.bn(self.conv(h)))


class PostNormCNN(nn.Module):
    """A residual network of images, the stream 5 channels of 6×4."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 5, 3, padding=1)
        self.stages = nn.Sequential(*[PostNormBlock(5) for _ in range(DEPTH + 1)])
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(5 * 6 * 4, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.drop(self.stages(self.stem(images)).flatten(1)))


def post_norm_cnn() -> Foreign:
    model = roughen(PostNormCNN())
    batches = pairs(model, lambda size, seed: numbers(size, 3, 6, 4, seed=seed))
    return Foreign(model, "stages", batches, foreign.post_norm_cnn)


FOREIGN = [gpt2, vit, encoder, encoder_with_tokens_first, post_norm_cnn]


def build(make: Callable[[], Foreign], dtype: torch.dtype = torch.float32) -> Foreign:
    """The network, the same each time; it is left in train mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = make()
    network.model.to(dtype)
    return network
