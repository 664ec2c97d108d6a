"""What cohorts of one kind cost here: measured once, and kept beside fetched data.

A kind is everything that decides time and memory but the number of runs: rule, network, batch
size, precision, shape of the data, engine, device, processor, software. Who measures again finds
slightly other figures, and may plan other cohorts, whose results differ in the last bits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from depthgauge import __version__
from depthgauge.config import Engine, RunConfig
from depthgauge.errors import UserError
from depthgauge.rules.contract import Rule
from depthgauge.store.files import content_of, make_folder, write_json
from depthgauge.store.provenance import processor
from depthgauge.studies.footprint import Footprint, count_footprint
from depthgauge.studies.pace import Pace, measure_paces
from depthgauge.studies.plan import PlannedRun
from depthgauge.tasks.base import Task
from depthgauge.tasks.cache import cache_dir

DIGITS = 16


@dataclass(frozen=True)
class Bench:
    """Where cohorts are tried: on what task and device, by which engine."""

    task: Task
    device: str
    engine: Engine

    def footprint(self, config: RunConfig, rule: Rule) -> Footprint:
        """Of cohorts of runs like this one."""
        path = self._path(config, "memory")
        with suppress(TypeError, ValueError):
            return Footprint.from_list(content_of(path))
        found = count_footprint(config, rule, self.task, self.device, self.engine)
        _keep(path, found.as_list())
        return found

    def paces(
        self, runs: Sequence[PlannedRun], threads: Sequence[int], fitting: int
    ) -> dict[int, Pace]:
        """Of cohorts of these runs, for each number of threads; at most `fitting` are tried."""
        path = self._path(runs[0].config, f"pace of {min(len(runs), fitting)}")
        known = _paces(content_of(path))
        missing = [number for number in threads if number not in known]
        if missing:
            known |= measure_paces(runs, self.task, self.device, self.engine, missing, fitting)
            _keep(path, {str(number): [pace.fixed, pace.run] for number, pace in known.items()})
        return {number: known[number] for number in threads}

    def _path(self, config: RunConfig, what: str) -> Path:
        """The file that keeps what was found of a kind of runs."""
        rule, recipe, x = config.rule, config.recipe, self.task.train.x
        decides = [
            *(what, rule.name, rule.options, rule.source, config.net.as_text),
            *(recipe.batch_size, recipe.dtype, bool(recipe.penalty)),
            *(list(x.shape), str(x.dtype), len(self.task.evaluation)),
            *(self.task.num_classes, self.device, self.engine),
            *(processor(), torch.get_num_threads(), torch.__version__, __version__),
        ]
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
        return measured_dir() / f"{digest[:DIGITS]}.json"


def measured_dir() -> Path:
    """The folder of everything that was measured."""
    return cache_dir() / "measured"


def _paces(content: Any) -> dict[int, Pace]:
    """As they were kept; none if that cannot be read."""
    with suppress(AttributeError, TypeError, ValueError):
        return {int(number): Pace(*map(float, found)) for number, found in content.items()}
    return {}


def _keep(path: Path, document: Any) -> None:
    """Where it can be written; elsewhere it is measured again the next time."""
    with suppress(UserError, OSError):
        make_folder(path.parent)
        write_json(path, document)
