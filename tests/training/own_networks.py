"""Networks of users, as files: what they import is torch alone."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe, RunConfig
from depthgauge.nets.user.net_config import user_net_config
from depthgauge.rules.choice import choose_rule
from depthgauge.tasks.base import Task
from depthgauge.training.local.runs import LocalRuns

TOKENS = '''
import torch
from torch import nn


class Tokens(nn.Module):
    """Twelve features as four tokens of three, with attention and dropout."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True, norm_first=True)
            for _ in range(3)
        )
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        h = self.embed(x.view(len(x), 4, 3))
        for layer in self.layers:
            h = layer(h)
        return self.head(h.mean(1))


def make():
    return Tokens()
'''

STAGES = '''
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.norm = nn.BatchNorm2d(inside)
        self.conv = nn.Conv2d(inside, outside, 3, stride, 1)
        self.short = nn.Conv2d(inside, outside, 1, stride) if inside != outside else nn.Identity()

    def forward(self, h):
        return self.short(h) + self.conv(torch.relu(self.norm(h)))


class Stages(nn.Module):
    """Twelve features as an image of 3 x 4 pixels; the second block halves it."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, 1, 1)
        self.stages = nn.Sequential(Block(4, 4, 1), Block(4, 6, 2), Block(6, 6, 1))
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        return self.head(self.stages(self.stem(x.view(len(x), 1, 3, 4))).mean((2, 3)))


def make():
    return Stages()
'''

SELDOM = '''
import torch
from torch import nn


class Seldom(nn.Module):
    """Each block is skipped in most steps of training; sometimes all are."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Linear(12, 8), nn.Linear(8, 5)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(3))

    def forward(self, x):
        h = self.embed(x)
        for block in self.blocks:
            if not self.training or torch.rand(()) > 0.6:
                h = block(h)
        return self.head(h)


def make():
    return Seldom()
'''

RESTLESS = '''
import random

import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, h):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * h.detach().mean(0)
        shift = np.random.rand() + random.random() if self.training else 1.0
        return h + shift * self.linear(torch.tanh(h - self.mean))


class Restless(nn.Module):
    """Draws random numbers of numpy and Python, and makes new buffers in every step."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Linear(12, 8), nn.Linear(8, 5)
        self.embed.weight.data += torch.tensor(0.1 * np.random.randn(8, 12))
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        h = self.embed(x)
        for block in self.blocks:
            h = block(h)
        return self.head(h)


def make():
    return Restless()
'''

FILES = {
    "tokens": (TOKENS, "layers"),
    "stages": (STAGES, "stages"),
    "seldom": (SELDOM, "blocks"),
    "restless": (RESTLESS, "blocks"),
}
"""For each network its file, and the path to its blocks."""

RECIPE = Recipe(epochs=3, batch_size=16, learning_rate=5e-3, dtype="float64")


def write_network(name: str, folder: Path) -> tuple[str, str]:
    """Write the file of a network; return what users type for `--net` and `--blocks`."""
    text, blocks = FILES[name]
    path = folder / f"{name}.py"
    path.write_text(text)
    return f"{path}:make", blocks


def net_config(name: str, folder: Path, task: Task) -> NetConfig:
    return user_net_config(*write_network(name, folder), task)


def make_run(
    name: str, folder: Path, rule: str, k: int, *, seed: int = 42, recipe: Recipe = RECIPE
) -> LocalRuns:
    """Make one untrained run of a user's network on the tiny task."""
    task, chosen = make_task(), choose_rule(rule)
    config = RunConfig(
        task=task.config,
        net=net_config(name, folder, task),
        rule=chosen.config,
        recipe=chosen.recipe(recipe),
        k=k,
        seed=seed,
    )
    return LocalRuns([config], [chosen.build()], task)


class Strips(nn.Module):
    """Digits as four strips, for functions that are passed in Python."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(16, 8)
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(2)))
        self.head = nn.Linear(8, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.embed(x.reshape(len(x), 4, 16))).mean(1))


def make_in_python() -> nn.Module:
    return Strips()
