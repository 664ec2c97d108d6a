"""What cohorts of one kind cost here: measured once, and kept beside fetched data.

A kind is everything that decides time and memory but the number of runs: rule, network, batch
size, precision, shape of the data, engine, device, processor, software. Who measures again finds
slightly other figures, and may plan other cohorts, whose results differ in the last bits.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import torch

from depthgauge import __version__
from depthgauge.config import Engine, RunConfig
from depthgauge.errors import UserError
from depthgauge.rules.contract import Rule
from depthgauge.store.files import content_of, make_folder, write_json
from depthgauge.store.provenance import processor
from depthgauge.studies.footprint import Footprint, Held, count_footprint
from depthgauge.studies.pace import Pace, measure_paces
from depthgauge.studies.plan import PlannedRun
from depthgauge.tasks.base import Task
from depthgauge.tasks.cache import cache_dir

DIGITS = 16

UNWRITTEN: dict[Path, Any] = {}
"""What could not be written, by where it would stand."""


def _in_silence(_run: RunConfig) -> None:
    """Where nobody waits."""


@dataclass(frozen=True)
class Bench:
    """Where cohorts are tried: on what task and device, by which engine.

    `announce` is told of every kind of runs that has to be tried, before it is.
    """

    task: Task
    device: str
    engine: Engine = "cohort"
    announce: Callable[[RunConfig], None] = _in_silence

    def footprint(self, config: RunConfig, rule: Rule) -> Footprint:
        """Of cohorts of runs like this one."""
        path = self._path(config, "memory")
        with suppress(KeyError, TypeError, ValueError, OSError):
            return _footprint(_kept(path))
        self.announce(config)
        found = count_footprint(config, rule, self.task, self.device, self.engine)
        phases = [astuple(held) for held in found.phases]
        _keep(path, {"phases": phases, "compiler": found.compiler})
        return found

    def paces(self, runs: Sequence[PlannedRun], threads: Sequence[int]) -> dict[int, Pace]:
        """Of runs that can be trained together, for each number of threads."""
        first = runs[0].seed
        path = self._path(runs[0].config, [(run.k, run.seed == first) for run in runs])
        known: dict[int, Pace] = {}
        with suppress(AttributeError, TypeError, ValueError, OSError):
            known = _paces(_kept(path))
        missing = [number for number in threads if number not in known]
        if missing:
            self.announce(runs[0].config)
            known |= measure_paces(runs, self.task, self.device, self.engine, missing)
            _keep(path, {str(number): astuple(pace) for number, pace in known.items()})
        return {number: known[number] for number in threads}

    def _path(self, config: RunConfig, what: object) -> Path:
        """The file that keeps what was found of a kind of runs."""
        rule, recipe, x = config.rule, config.recipe, self.task.train.x
        decides = [
            *(what, rule.name, rule.options, rule.source, config.net.as_text),
            *(recipe.batch_size, recipe.dtype, bool(recipe.penalty)),
            *(list(x.shape), str(x.dtype), self.task.pixels is not None),
            *(len(self.task.evaluation), self.task.num_classes, self.device, self.engine),
            *(processor(), os.cpu_count(), _gpu(self.device), torch.__version__, __version__),
        ]
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        return measured_dir() / f"{digest[:DIGITS]}.json"


def _gpu(device: str) -> str | None:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else None


def measured_dir() -> Path:
    """The folder of everything that was measured."""
    return cache_dir() / "measured"


def _footprint(content: Any) -> Footprint:
    """As it was kept; an error if it was not."""
    phases = tuple(Held(*map(float, figures)) for figures in content["phases"])
    if not phases:
        raise ValueError("no phases")
    return Footprint(phases, bool(content["compiler"]))


def _paces(content: Any) -> dict[int, Pace]:
    return {int(number): Pace(*map(float, found)) for number, found in content.items()}


def _keep(path: Path, document: Any) -> None:
    """Where it can be written; elsewhere as long as this process lives."""
    try:
        make_folder(path.parent)
        write_json(path, document)
    except (UserError, OSError):
        UNWRITTEN[path] = document


def _kept(path: Path) -> Any:
    return UNWRITTEN[path] if path in UNWRITTEN else content_of(path)
