"""Small networks of Hugging Face, for `--net examples/foreign_networks.py:gpt2` and the like.

| function | blocks | task |
|---|---|---|
| `gpt2` | `transformer.h` | `pointers` |
| `bert` | `bert.encoder.layer` | `pointers` |
| `vit` | `vit.layers` | `digits` |

The sizes fit the tasks; take your own configuration instead.
"""

from torch import nn
from transformers import (
    BertConfig,
    BertForTokenClassification,
    GPT2Config,
    GPT2LMHeadModel,
    ViTConfig,
    ViTForImageClassification,
)

SYMBOLS = 32
"""At least the number of different tokens of the task."""


def gpt2() -> nn.Module:
    """Return a causal language model; its embedding and its readout share their weights."""
    config = GPT2Config(
        vocab_size=SYMBOLS,
        n_positions=32,
        n_embd=32,
        n_layer=3,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPT2LMHeadModel(config)


def bert() -> nn.Module:
    """Return a classifier of tokens."""
    config = BertConfig(
        vocab_size=SYMBOLS,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
        num_labels=SYMBOLS,
    )
    return BertForTokenClassification(config)


def vit() -> nn.Module:
    """Return a classifier of images of 8×8 pixels with one channel."""
    config = ViTConfig(
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        image_size=8,
        patch_size=2,
        num_channels=1,
        num_labels=10,
    )
    return ViTForImageClassification(config)
