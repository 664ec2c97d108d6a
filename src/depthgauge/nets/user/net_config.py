"""Describe a user's network as a configuration, by building it and running it once."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from depthgauge.config import NetConfig
from depthgauge.errors import UserError
from depthgauge.nets.find_blocks import find_blocks
from depthgauge.nets.probed import probe_of, probed_shape
from depthgauge.nets.user.sources import build_from_source, remember_source
from depthgauge.tasks.base import Task

SAVED = re.compile(r"[0-9a-f]{16}")
"""The name of a file in a study's folder, which says nothing about the network."""


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
    source, blocks = remember_source(reference), count_user_blocks(reference, block_path)
    name = _name_of(reference)
    draft = NetConfig(name=name, blocks=blocks, source=source, block_path=block_path)
    seen = probe_of(draft, task)
    if not seen.shapes:
        raise UserError(f"--net {reference} cannot be trained on {task.name}: {seen.training}")
    return draft.model_copy(update={"width": probed_shape(draft, task).width})


def _name_of(reference: str) -> str:
    """Return the name of a network in texts: its file and its function."""
    module, _, function = reference.rpartition(":")
    stem = Path(module).stem if module.endswith(".py") else module.rpartition(".")[-1]
    return function if SAVED.fullmatch(stem) else f"{stem}.{function}"
