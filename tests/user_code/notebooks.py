"""Definitions in notebooks and scripts, run as IPython and Python run them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

CELLS = (
    '''
import math
import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import matmul
from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions
''',
    '''
GAIN = 0.5
SIGNS = {"plus": (1.0, 2), "minus": [-1.0, None, float("inf")]}

class MyOptions(RuleOptions):
    shared: bool = Field(default=False, description="one matrix for all blocks")
''',
    '''
def scaled(tensor, by=GAIN):
    """Uses another function of the notebook."""
    return signed(F.normalize(tensor, dim=-1)) * by * np.sqrt(4)

def signed(tensor):
    return tensor * SIGNS["plus"][0]
''',
    '''
class MyRule(Rule):
    """From a notebook."""

    name = "my_rule"
    summary = "the error through fixed matrices, scaled"
    needs = frozenset({"error"})
    Options = MyOptions

    def feedback(self, net, generator):
        return {"B": torch.rand(net.width, net.error_width, generator=generator) * math.pi}

    def credit(self, context: Context) -> Credit:
        projected = scaled(matmul(context.error, context.feedback["B"].T))
        return Credit(blocks=[projected for _ in context.states[1:]], embed=projected)
''',
)  # fmt: skip


@contextmanager
def notebook(*cells: str) -> Iterator[dict[str, Any]]:
    """The namespace of a notebook after these cells; its own module is `__main__` meanwhile."""
    main = sys.modules["__main__"]
    shell = InteractiveShell()
    try:
        for cell in cells:
            shell.run_cell(cell, store_history=True).raise_error()
        yield shell.user_ns
    finally:
        shell.history_manager.end_session()
        sys.modules["__main__"] = main


def run_script(path: Path, text: str) -> subprocess.CompletedProcess[str]:
    """`python path`, in its folder."""
    path.write_text(text)
    return subprocess.run(
        [sys.executable, path.name], cwd=path.parent, capture_output=True, text=True, check=False
    )
