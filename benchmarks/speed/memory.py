"""Memory of a process that trains a cohort: as it is predicted, and as it is.

Both in new processes, which have nothing but their data. The one that trains builds the cohort,
reads it, takes steps and writes checkpoints, as training does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from depthgauge.studies.footprint import count_footprint
from depthgauge.studies.room import own_bytes
from depthgauge.studies.trial import Trial

from depthgauge.rules.choice import choose_rule
from depthgauge.store.checkpoint import write_checkpoint
from depthgauge.store.peak_memory import peak_memory_bytes
from depthgauge.training.engine import Epoch
from depthgauge.training.kept_memory import keep_freed_memory

from .cases import Case

STEPS, READ = 5, 1500
MEGABYTE = 1e6


def measure(case: Case, runs: int, on_round: Callable[[], None]) -> dict[str, Any]:
    """Bytes of one cohort."""
    found = {}
    for name, function in (("predicted", _predicted), ("measured", _measured)):
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            found[f"{name}_bytes"] = alone.submit(function, case, runs).result()
    on_round()
    known = {"rule": case.rule, "width": case.width, "blocks": case.blocks, "runs": runs}
    ratio = found["predicted_bytes"] / found["measured_bytes"]
    return known | {"dtype": case.dtype} | found | {"ratio": ratio}


def _predicted(case: Case, runs: int) -> int:
    torch.set_num_threads(1)
    task, configs = case.task(), case.configs(runs)
    alone, rule = own_bytes(), choose_rule(case.rule).build()
    footprint = count_footprint(configs[0], rule, task, "cpu", "cohort")
    seeds = len({config.seed for config in configs})
    return round(alone + footprint.bytes_of(seeds, [config.k for config in configs]))


def _measured(case: Case, runs: int) -> int:
    torch.set_num_threads(1)
    keep_freed_memory()
    configs, choice = case.configs(runs), choose_rule(case.rule)
    trial = Trial(configs, [choice.build() for _ in configs], case.task())
    for _ in range(2):
        trial.read(READ)
        for _ in range(STEPS):
            trial.step()
        with tempfile.TemporaryDirectory() as folder:
            for state in Epoch(trial.cohort, 0).states():
                write_checkpoint(Path(folder) / "checkpoint", state)
    return peak_memory_bytes()


def text(result: dict[str, Any]) -> str:
    """One cohort as a line."""
    predicted, measured = (result[f"{one}_bytes"] / MEGABYTE for one in ("predicted", "measured"))
    what = "{rule}, d = {width}, L = {blocks}, {runs} runs, {dtype}".format(**result)
    return (
        f"{what}: predicted {predicted:,.0f} MB, measured {measured:,.0f} MB, {result['ratio']:.2f}"
    )
