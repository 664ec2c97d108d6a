"""Describe a user's network as a configuration, by building it and running it once."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.measured_size import SAMPLES, NetworkSize, measure_size
from depthgauge.nets.registry import initial_net
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.nets.user_sources import build_from_source, remember_source
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs

SAVED = re.compile(r"[0-9a-f]{16}")
"""The name of a file in a study's folder, which says nothing about the network."""

Key = tuple[str, str]
"""The text of a network's configuration, and the checksum of the task."""

_CONFIGS: dict[Key, NetConfig] = {}
_SIZES: dict[Key, NetworkSize] = {}


def count_user_blocks(reference: str, block_path: str | None) -> int:
    """Return the number of blocks of the network that a user's function builds."""
    source = remember_source(reference)
    with torch.random.fork_rng(devices=[]):
        return len(find_blocks(build_from_source(source), block_path))


def user_net_config(reference: str, block_path: str | None, task: Task) -> NetConfig:
    """Return the configuration of the network that a user's function builds.

    Args:
        reference: `file.py:function` or `module:function`.
        block_path: the dotted path to the blocks; None if they are the attribute `blocks`.
        task: what the network shall learn; the network is run on some of its samples.
    """
    source = remember_source(reference)
    draft = NetConfig(name=_name_of(reference), source=source, block_path=block_path)
    key = (draft.as_text, task.checksum)
    if key not in _CONFIGS:
        _CONFIGS[key] = _described(draft, reference, task)
    return _CONFIGS[key]


def network_size(config: NetConfig, task: Task) -> NetworkSize:
    """Return the size of a network on the samples of a task."""
    key = (config.as_text, task.checksum)
    if key not in _SIZES:
        _SIZES[key] = measure_size(initial_net(config, task, seed=0), _few_samples(task)[0])
    return _SIZES[key]


def _described(draft: NetConfig, reference: str, task: Task) -> NetConfig:
    net = initial_net(draft, task, seed=0)
    reader = StreamReader(net, draft.block_path)
    try:
        seen = reader.see(*_few_samples(task))
    except UserError as error:
        raise UserError(f"--net {reference} cannot be trained on {task.name}: {error}") from error
    last = seen.states[-1]
    width = last.shape[reader.layout.features_of(last)]
    return draft.model_copy(update={"blocks": reader.num_blocks, "width": width})


def _few_samples(task: Task) -> tuple[Tensor, Tensor]:
    return as_inputs(task.train.x[:SAMPLES], task, torch.float32), task.train.y[:SAMPLES]


def _name_of(reference: str) -> str:
    """Return the name of a network in texts: its file and its function."""
    module, _, function = reference.rpartition(":")
    stem = Path(module).stem if module.endswith(".py") else module.rpartition(".")[-1]
    return function if SAVED.fullmatch(stem) else f"{stem}.{function}"
