"""Ten networks that users might bring, each with what `check-net` should say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from nets import own_backward
from nets.cut import table_networks as t
from nets.cut.stage_net import StageNet
from torch import Tensor, nn

WIDTH, WORDS, LONGEST, LABELS = 12, 13, 16, 5
SMALL = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "vocab_size": WORDS,
    "max_position_embeddings": LONGEST,
}
EVERY_ANSWER = {"train": "yes", "ladder": "yes", "diagnose": "yes", "resume": "yes"}


@dataclass
class Expected:
    """A network, and what must be said of it."""

    make: Callable[[], nn.Module]
    blocks: list[str]
    stream: str = ""
    answers: dict[str, str] = field(default_factory=lambda: dict(EVERY_ANSWER))
    says: list[str] = field(default_factory=list)
    refused_rules: set[str] = field(default_factory=set)


def transformers() -> Any:
    return pytest.importorskip("transformers", reason="networks of Hugging Face")


def gpt2() -> nn.Module:
    library = transformers()
    options = {"n_embd": WIDTH, "n_layer": 3, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}
    config = library.GPT2Config(vocab_size=WORDS, n_positions=LONGEST, **options)
    return library.GPT2LMHeadModel(config)


def bert() -> nn.Module:
    library = transformers()
    return library.BertForSequenceClassification(library.BertConfig(num_labels=LABELS, **SMALL))


def vit() -> nn.Module:
    library = transformers()
    sizes = {
        name: SMALL[name] for name in SMALL if name not in ("vocab_size", "max_position_embeddings")
    }
    config = library.ViTConfig(image_size=8, patch_size=4, num_labels=LABELS, **sizes)
    return library.ViTForImageClassification(config)


def llama() -> nn.Module:
    library = transformers()
    tokens = {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}
    return library.LlamaForCausalLM(library.LlamaConfig(num_key_value_heads=2, **tokens, **SMALL))


def albert() -> nn.Module:
    """One block that runs three times."""
    library = transformers()
    config = library.AlbertConfig(embedding_size=6, num_labels=LABELS, **SMALL)
    return library.AlbertForSequenceClassification(config)


def own_derivative() -> nn.Module:
    return own_backward.make(own_backward.FeedbackLinear, nn.Linear, {1})


def long_skips() -> nn.Module:
    return t.Walker(t.long_skips, depth=4)


def norm_outside() -> nn.Module:
    return t.Walker(t.norm_outside, t.Branch, extra=nn.LayerNorm(t.WIDTH))


def each_block_twice() -> nn.Module:
    return t.Walker(t.each_twice)


class NotAStack(nn.Module):
    """Two towers side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 6), nn.Linear(4, 6)
        self.head = nn.Bilinear(6, 6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.left(x)), torch.relu(self.right(x)))


TWICE = "no: block 0 runs twice in a forward pass"
OUTSIDE = "no: block 0 (its parameter blocks.0.norm.weight) follows not only its own credit"

NETWORKS: dict[str, Expected] = {
    "GPT-2": Expected(
        gpt2,
        [f"transformer.h.{i}" for i in range(3)],
        "argument 0 of each block, 16 positions × 12 features; blocks return the whole stream",
        says=["transformer.wte.weight follows the credit below the blocks and the loss"],
    ),
    "BERT": Expected(
        bert,
        [f"bert.encoder.layer.{i}" for i in range(3)],
        "argument 0 of each block, 16 positions × 12 features; blocks return the whole stream",
        says=["below       bert.embeddings", "readout     bert.pooler, classifier"],
    ),
    "ViT": Expected(
        vit,
        [f"vit.layers.{i}" for i in range(3)],
        "argument 0 of each block, 5 positions × 12 features; blocks return the whole stream",
        says=["8 samples of 3 × 8 × 8 numbers", "readout     vit.layernorm, classifier"],
    ),
    "Llama": Expected(
        llama,
        [f"model.layers.{i}" for i in range(3)],
        "argument 0 of each block, 16 positions × 12 features; blocks return the whole stream",
        says=["readout     model.norm, lm_head", "output      16 × 13"],
    ),
    "ALBERT": Expected(
        albert,
        ["albert.encoder.albert_layer_groups.0"] * 3,
        "argument 0 of each block, 16 positions × 12 features; blocks return the whole stream",
        answers={"train": "yes", "ladder": "no: blocks 0, 1 and 2 share weights"},
    ),
    "stages": Expected(
        StageNet,
        [f"blocks.{i}" for i in range(4)],
        "argument 0 of each block, 32 × 32 positions × 4 features; 16 × 16 positions × 6 features "
        "after block 1; blocks return the whole stream",
        answers=EVERY_ANSWER,
        refused_rules={"state_bridge", "credit_bridge"},
    ),
    "own backward": Expected(
        own_derivative,
        [f"blocks.{i}" for i in range(own_backward.DEPTH)],
        "argument 0 of each block, 8 features; blocks return the whole stream",
        says=["block 1 defines its own backward pass", "n/a"],
    ),
    "long skips": Expected(
        long_skips,
        [f"blocks.{i}" for i in range(4)],
        "argument 0 of each block, 6 features; blocks return the whole stream",
        answers={"train": "yes", "ladder": "yes", "resume": "yes"},
    ),
    "each block twice": Expected(
        each_block_twice,
        [f"blocks.{i}" for i in range(3)],
        answers={"train": TWICE, "ladder": TWICE, "diagnose": "no: block 0", "resume": TWICE},
    ),
    "not a stack": Expected(
        NotAStack,
        [],
        answers={
            "train": "no: none of the lists of modules in it can be its blocks; give the modules",
            "diagnose": "no: none of the lists",
        },
        says=["the modules in it: left, right, head", "run in parallel"],
    ),
    "norm outside": Expected(
        norm_outside,
        [f"blocks.{i}" for i in range(3)],
        "argument 0 of each block, 6 features; blocks return the whole stream",
        answers={"train": OUTSIDE, "ladder": OUTSIDE},
        says=["wrap what the network does with the stream"],
    ),
}
