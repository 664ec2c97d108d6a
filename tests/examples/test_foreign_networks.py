"""The networks of Hugging Face in the examples train under rules, block by block."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from depthgauge.rules.fitting import check_fit
from depthgauge.scheduling.grid import build_grid, load_task_of
from depthgauge.study_config import study_config
from depthgauge.training.batches import Batches
from depthgauge.training.engines import make_trainee

pytest.importorskip("transformers")

FILE = Path(__file__).resolve().parents[2] / "examples" / "foreign_networks.py"
NETWORKS = {
    "gpt2": ("transformer.h", "pointers"),
    "bert": ("bert.encoder.layer", "pointers"),
    "vit": ("vit.layers", "digits"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_it_trains_under_rules_with_its_first_block_frozen(name):
    blocks, task_name = NETWORKS[name]
    options = {
        "net": f"{FILE}:{name}",
        "blocks": blocks,
        "task": task_name,
        "rules": ["bp", "fa", "dfa"],
        "k": [2],
        "seeds": [1],
        "epochs": 1,
        "batch_size": 16,
        "floors": False,
    }
    config = study_config(options)
    task = load_task_of(config)
    grid = build_grid(config, task)
    assert grid.net.blocks == 3
    assert grid.net.width == 32
    check_fit(grid.rules, grid.net, task, freezes=True)
    for planned in grid.runs():
        trainee = make_trainee([planned.config], [planned.choice.build()], task)
        before = {n: t.clone() for n, t in trainee.tensors()[0].parameters.items()}
        trainee.start_epoch(0)
        batch = next(Batches(task, [1], 16).epoch(0))
        assert math.isfinite(float(trainee.step(batch, 0.0)))
        for parameter, now in trainee.tensors()[0].parameters.items():
            moved = not torch.equal(before[parameter], now)
            if parameter.startswith(f"{blocks}.0."):
                assert not moved, parameter
            elif parameter.startswith(f"{blocks}.") and parameter.endswith("weight"):
                assert moved, parameter
