"""Networks from elsewhere for the command line: a file that makes them, and their weights."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import torch

FACTORIES = '''
"""Networks that somebody wrote."""

import torch
from torch import nn

from depthgauge.nets.residual_mlp import ResidualMLP


class Stack(nn.Module):
    """Inputs, residual layers in `body.layers`, outputs."""

    def __init__(self, inputs, layers, outputs):
        super().__init__()
        self.inputs, self.outputs = inputs, outputs
        self.body = nn.ModuleDict({"layers": nn.ModuleList(layers)})

    def forward(self, x):
        h = self.inputs(x)
        for layer in self.body["layers"]:
            h = h + layer(h)
        return self.outputs(h)


def mlp(width=8, classes=10):
    layers = [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width)) for _ in range(3)]
    inputs = nn.Sequential(nn.Flatten(), nn.Linear(64, width))
    return Stack(inputs, layers, nn.Linear(width, classes))


class SignFeedback(torch.autograd.Function):
    """A product whose backward pass uses the signs of the weights."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.T

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient @ weight.sign(), gradient.T @ x


class SignLinear(nn.Linear):
    def forward(self, x):
        return SignFeedback.apply(x, self.weight) + self.bias


def with_sign_feedback(width=8):
    layers = [nn.Sequential(nn.LayerNorm(width), SignLinear(width, width)) for _ in range(3)]
    inputs = nn.Sequential(nn.Flatten(), nn.Linear(64, width))
    return Stack(inputs, layers, nn.Linear(width, 10))


def few_classes():
    return mlp(classes=5)


def wide():
    return mlp(width=12)


def cnn():
    layers = [nn.Conv2d(4, 4, 3, padding=1) for _ in range(2)]
    readout = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5))
    return Stack(nn.Conv2d(3, 4, 3, padding=1), layers, readout)


def residual():
    return ResidualMLP(64, 8, 10, 2)


class Transformer(nn.Module):
    """The rows of a digit are tokens; what is read of them is projected as the seed says."""

    def __init__(self, layers=2, seed=0):
        super().__init__()
        self.embed = nn.Linear(8, 8)
        layer = nn.TransformerEncoderLayer(
            8, 2, 16, dropout=0.1, norm_first=True, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        generator = torch.Generator().manual_seed(seed)
        self.register_buffer(
            "projection", torch.randn(8, 10, generator=generator), persistent=False
        )

    def forward(self, x):
        return self.encoder(self.embed(x.view(-1, 8, 8))).mean(1) @ self.projection


def transformer(seed):
    return Transformer(seed=seed)


def deeper():
    return Transformer(layers=3)


def raises():
    raise ValueError("no such thing\\nat all")


def a_number():
    return 3
'''


def write_factories(folder: Path) -> Path:
    path = folder / "my_networks.py"
    path.write_text(FACTORIES)
    return path


def load_factories(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("factories_of_a_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save_transformers(factories: Path, labels: Sequence[str], seeds: Sequence[int]) -> Path:
    """Untrained transformers, other ones for every label and seed, as LABEL_sSEED.pt."""
    folder, made = factories.parent / "transformers", load_factories(factories)
    folder.mkdir()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        for label in labels:
            for seed in seeds:
                net = made.transformer(seed)
                torch.save({"state_dict": net.state_dict()}, folder / f"{label}_s{seed}.pt")
    return folder


def save_weights(factories: Path, name: str, seed: int = 0) -> Path:
    """The weights of a network that `name` makes, as `name.pt` beside the file."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = getattr(load_factories(factories), name)()
    path = factories.with_name(f"{name}.pt")
    torch.save(net.state_dict(), path)
    return path
