"""All runs and epochs of a study as rows of one tidy table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from depthgauge.config import NetConfig, Recipe, RuleConfig, TaskConfig
from depthgauge.store.files import read_small
from depthgauge.store.metrics_file import Line, read_lines
from depthgauge.store.plan_files import PlanFiles
from depthgauge.store.run_paths import CONFIG, FAILED, METRICS, RESULT, read_config
from depthgauge.studies.status import check_study

Row = list[Any]

CONFIGURED = (
    *("run", "k", "seed", "task", "evaluated_on", "rule", "label", "options", "source"),
    *("net", "width", "blocks", "epochs", "batch_size", "dtype"),
    *("learning_rate", "weight_decay", "penalty", "targets"),
)
MEASURED = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")
PER_LAYER = ("h_norm", "g_norm")
EPOCHS = CONFIGURED.index("epochs") - len(("run", "k", "seed"))
"""Where the number of epochs stands in what runs of one kind have in common."""


class TidyTable:
    """One row for each run and epoch, planned runs first; a run without metrics has one row.

    `torn` are the runs that are done and have lost epochs, of those whose rows were made.
    """

    def __init__(self, folder: Path) -> None:
        check_study(folder)
        self.torn: list[str] = []
        self._runs = folder / "runs"
        self._plan = PlanFiles(folder / "plan").read()
        planned = self._plan.cohort_of
        started = sorted(entry.name for entry in os.scandir(self._runs)) if self._begun else []
        self._others = [
            read_config(self._runs / name / CONFIG)
            for name in started
            if name not in planned and (self._runs / name / CONFIG).is_file()
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

    def runs(self) -> Iterator[tuple[Row, list[Row]]]:
        """Of each run what its rows begin with, and the rest of each row; None for nothing."""
        for cohort in self._plan.current:
            described = [
                _described(cohort.task, cohort.net, rule.config, cohort.recipe)
                for rule in cohort.rules
            ]
            for identity, (rule, k, seed) in zip(cohort.identities, cohort.runs, strict=True):
                yield self._run(identity, k, seed, described[rule])
        for one in self._others:
            alone = _described(one.task, one.net, one.rule, one.recipe)
            yield self._run(one.identity, one.k, one.seed, alone)

    def rows(self) -> Iterator[Row]:
        """The rows, in the order of the columns."""
        for beginning, rests in self.runs():
            for rest in rests:
                yield beginning + rest

    def _run(self, identity: str, k: int, seed: int, described: Row) -> tuple[Row, list[Row]]:
        run = f"{self._runs}/{identity}"
        lines, state = _lines(f"{run}/{METRICS}") or ({},), _state(run)
        if state == "done" and len(lines) != described[EPOCHS] + 1:
            self.torn.append(identity)
        return [identity, k, seed, *described, state], [self._rest(line) for line in lines]

    def _rest(self, line: Line) -> Row:
        """What was measured at an epoch."""
        rest = [line.get(name) for name in MEASURED]
        for name in PER_LAYER:
            values = line.get(name) or []
            rest += values + [None] * (self._layers - len(values))
        return rest


def _described(task: TaskConfig, net: NetConfig, rule: RuleConfig, recipe: Recipe) -> Row:
    """What runs of one kind have in common, flat."""
    return [
        *(task.name, task.evaluated_on),
        *(rule.name, rule.label, json.dumps(rule.options, sort_keys=True)),
        rule.source or None,
        *(net.name, net.width, net.blocks, recipe.epochs, recipe.batch_size, recipe.dtype),
        *(recipe.learning_rate, recipe.weight_decay, recipe.penalty, recipe.targets),
    ]


def _state(run: str) -> str:
    if os.path.exists(f"{run}/{RESULT}"):
        return "done"
    return "failed" if os.path.exists(f"{run}/{FAILED}") else "not done"


def _lines(path: str) -> Sequence[Line]:
    try:
        return read_lines(read_small(path))[0]
    except FileNotFoundError:
        return ()
