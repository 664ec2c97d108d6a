"""Users' networks for commands, and what bad ones look like."""

from __future__ import annotations

from pathlib import Path

NETWORK = '''
import torch
from torch import nn


class Tiny(nn.Module):
    """Digits as four strips, three blocks with attention."""

    def __init__(self, broken=""):
        super().__init__()
        self.embed = nn.Linear(16, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 8, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.unused = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.branches = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        h = self.embed(x.reshape(len(x), 4, 16))
        h = self.encoder(h) + self.branches[0](h) + self.branches[1](h)
        return self.head(h.mean(1))


def make():
    return Tiny()


def raising():
    raise FileNotFoundError("no weights here")


def a_number():
    return 7
'''

COMMON = ("--blocks", "encoder.layers", "--task", "digits", "--epochs", "1", "--threads", "1")


def write_network(folder: Path) -> Path:
    path = folder / "tiny.py"
    path.write_text(NETWORK)
    return path
