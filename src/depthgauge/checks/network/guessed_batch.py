"""Guess inputs and labels for a network of which nothing is known but its modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.batch import ForwardError, call_network
from depthgauge.nets.preserve_state import dtype_of, preserve_state

SAMPLES = 8
TOKENS = (16, 8, 4)
"""The lengths of sequences that are tried."""

SIDES = (32, 28, 8, 16, 64, 224)
"""The sides of images that are tried, in pixels."""

LENGTHS = (64, 1600, 16000)
"""The lengths of signals that are tried."""

FIRST = 4
"""How many of the network's layers are tried as the one that gets the inputs."""


def guess_inputs(model: nn.Module) -> Tensor:
    """Return random inputs that the network takes, guessed from its first layers."""
    refusals = []
    with preserve_state(model), torch.no_grad():
        for inputs in _guesses(model):
            try:
                call_network(model, inputs)
            except ForwardError as error:
                refusals.append(str(error))
            else:
                return inputs
    last = f" (the last try: {refusals[-1]})" if refusals else ""
    raise UserError(
        f"no inputs could be guessed for {type(model).__name__}{last}; give --task, or the shape "
        "of a sample with --shape"
    )


def _guesses(model: nn.Module) -> Iterator[Tensor]:
    layers = [m for m in model.modules() if isinstance(m, _LAYERS)]
    config = getattr(model, "config", None)
    for layer in layers[:FIRST]:
        yield from _inputs_of(layer, config, dtype_of(model))


_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Embedding)


def _inputs_of(layer: nn.Module, config: Any, dtype: torch.dtype) -> Iterator[Tensor]:
    """Yield inputs that a layer could get."""
    if isinstance(layer, nn.Embedding):
        for length in TOKENS:
            yield draw_inputs((length,), layer.num_embeddings, dtype)
    elif isinstance(layer, nn.Conv2d):
        own = getattr(config, "image_size", None)
        for side in (*((own,) if isinstance(own, int) else ()), *SIDES):
            yield draw_inputs((layer.in_channels, side, side), None, dtype)
    elif isinstance(layer, nn.Conv1d):
        for length in LENGTHS:
            yield draw_inputs((layer.in_channels, length), None, dtype)
            if layer.in_channels == 1:
                yield draw_inputs((length,), None, dtype)
    elif isinstance(layer, nn.Linear):
        yield draw_inputs((layer.in_features,), None, dtype)
        for length in TOKENS:
            yield draw_inputs((length, layer.in_features), None, dtype)


def draw_inputs(shape: tuple[int, ...], words: int | None, dtype: torch.dtype) -> Tensor:
    """Draw inputs of this shape: normal numbers, or whole numbers below `words`."""
    generator = torch.Generator().manual_seed(0)
    if words is not None:
        return torch.randint(words, (SAMPLES, *shape), generator=generator)
    return torch.randn(SAMPLES, *shape, generator=generator).to(dtype)


def draw_labels(model: nn.Module, inputs: Any) -> Tensor:
    """Draw labels that fit the network's output: classes, or numbers if there are no classes.

    An output (samples, classes) gets a label for each sample, an output (samples, tokens, classes)
    one for each token.
    """
    with preserve_state(model), torch.no_grad():
        output = call_network(model, inputs)
    generator = torch.Generator().manual_seed(1)
    has_classes = output.dim() in (2, 3) and output.shape[-1] > 1
    if has_classes:
        return torch.randint(output.shape[-1], output.shape[:-1], generator=generator)
    return torch.randn(output.shape, generator=generator)
