"""The estimated and the measured memory of a process that trains a cohort.

The process is new and holds nothing but its data. It trains for a few steps, reads its gauges and
writes checkpoints, as in a study.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from depthgauge.rules.choice import choose_rule
from depthgauge.scheduling.memory_estimate import process_bytes
from depthgauge.store.checkpoint import write_checkpoint
from depthgauge.store.peak_memory import peak_memory_bytes
from depthgauge.training.engines import make_trainee
from depthgauge.training.loop import train_cohort
from depthgauge.training.memory import keep_freed_memory
from depthgauge.training.readings import EVERY_EPOCH
from depthgauge.training.trainee import RunState

from .cases import Case

STEPS = 7
"""The steps of the epoch: rules that warm up do so in the first fifth of them."""

MEGABYTE = 1e6


def measure(case: Case, runs: int, on_round: Callable[[], None]) -> dict[str, Any]:
    """Return the bytes of one cohort, estimated and measured."""
    case = replace(case, epochs=1, samples=STEPS * case.batch)
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        measured = alone.submit(_measured, case, runs).result()
    on_round()
    config, rule = case.configs(runs)[0], choose_rule(case.rule).rule_class
    estimated = round(process_bytes(config.net, config.recipe, rule, case.task(), runs))
    known = {"rule": case.rule, "width": case.width, "blocks": case.blocks, "runs": runs}
    in_bytes = {"estimated_bytes": estimated, "measured_bytes": measured}
    return known | {"dtype": case.dtype} | in_bytes | {"ratio": estimated / measured}


class _Checkpoints:
    """A recorder that writes the checkpoints of a cohort, and drops its metrics."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def record_epoch(self, lines: Sequence[dict[str, Any]]) -> None:
        """Drop the metrics."""

    def save(self, states: Sequence[RunState]) -> None:
        """Write every run's state."""
        for run, state in enumerate(states):
            write_checkpoint(self._folder / f"{run}.safetensors", state)


def _measured(case: Case, runs: int) -> int:
    """Train one epoch with a checkpoint after every step; return this process's peak memory."""
    torch.set_num_threads(1)
    keep_freed_memory()
    configs, task = case.configs(runs), case.task()
    rules = [choose_rule(case.rule).build() for _ in configs]
    with tempfile.TemporaryDirectory() as folder:
        train_cohort(
            make_trainee(configs, rules, task),
            task,
            _Checkpoints(Path(folder)),
            observers=EVERY_EPOCH,
            save_every=0.0,
        )
    return peak_memory_bytes()


def text(result: dict[str, Any]) -> str:
    """Write the memory of one cohort as a line."""
    estimated, measured = (result[f"{kind}_bytes"] / MEGABYTE for kind in ("estimated", "measured"))
    what = "{rule}, d = {width}, L = {blocks}, {runs} runs, {dtype}".format(**result)
    return (
        f"{what}: estimated {estimated:,.0f} MB, measured {measured:,.0f} MB, {result['ratio']:.2f}"
    )
