"""All runs and epochs of a study as rows of one tidy table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from depthgauge.config import RunConfig
from depthgauge.store.plan_files import PlanFiles
from depthgauge.store.run_paths import FAILED, METRICS, RESULT, read_config
from depthgauge.studies.status import check_study

Row = list[Any]

CONFIGURED = (
    *("run", "task", "evaluated_on", "rule", "label", "options", "k", "seed"),
    *("net", "width", "blocks", "epochs", "batch_size", "dtype"),
    *("learning_rate", "weight_decay", "penalty", "targets"),
)
MEASURED = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")
PER_LAYER = ("h_norm", "g_norm")


class TidyTable:
    """One row for each run and epoch, planned runs first; a run without metrics has one row."""

    def __init__(self, folder: Path) -> None:
        check_study(folder)
        self._runs = folder / "runs"
        self._plan = PlanFiles(folder / "plan").read()
        planned = self._plan.cohort_of
        started = sorted(entry.name for entry in os.scandir(self._runs)) if self._begun else []
        self._others = [
            read_config(self._runs / name / "config.json")
            for name in started
            if name not in planned
        ]
        nets = [cohort.net for cohort in self._plan.current] + [c.net for c in self._others]
        self._layers = 1 + max((net.blocks for net in nets), default=0)

    @property
    def _begun(self) -> bool:
        return self._runs.is_dir()

    @property
    def columns(self) -> list[str]:
        """Of the configuration, of an epoch, and one for each layer of the deepest network."""
        layers = [f"{name}_{layer}" for name in PER_LAYER for layer in range(self._layers)]
        return [*CONFIGURED, "state", *MEASURED, *layers]

    def rows(self) -> Iterator[Row]:
        """The rows, in the order of the columns; None where there is nothing."""
        for cohort in self._plan.current:
            for config in cohort.configs:
                yield from self._rows_of(config)
        for config in self._others:
            yield from self._rows_of(config)

    def _rows_of(self, config: RunConfig) -> Iterator[Row]:
        run = os.path.join(self._runs, config.identity)
        beginning = [*_described(config), _state(run)]
        lines = _lines(os.path.join(run, METRICS))
        for line in lines.values() or ({},):
            row = beginning + [line.get(name) for name in MEASURED]
            for name in PER_LAYER:
                values = line.get(name) or []
                row += values + [None] * (self._layers - len(values))
            yield row


def _described(config: RunConfig) -> Row:
    """The configuration, flat."""
    task, net, rule, recipe = config.task, config.net, config.rule, config.recipe
    return [
        *(config.identity, task.name, task.evaluated_on),
        *(rule.name, rule.label, json.dumps(rule.options, sort_keys=True), config.k, config.seed),
        *(net.name, net.width, net.blocks, recipe.epochs, recipe.batch_size, recipe.dtype),
        *(recipe.learning_rate, recipe.weight_decay, recipe.penalty, recipe.targets),
    ]


def _state(run: str) -> str:
    if os.path.exists(os.path.join(run, RESULT)):
        return "done"
    failed = os.path.exists(os.path.join(run, FAILED))
    return "failed" if failed else "not done"


def _lines(path: str) -> dict[int, dict[str, Any]]:
    """By epoch, in order; as `MetricsFile` reads them."""
    try:
        with open(path, "rb") as handle:
            texts = handle.read().splitlines()
    except FileNotFoundError:
        return {}
    by_epoch = {}
    for text in texts:
        try:
            line = json.loads(text)
            by_epoch[int(line["epoch"])] = line
        except (ValueError, KeyError, TypeError):
            continue
    return dict(sorted(by_epoch.items()))
