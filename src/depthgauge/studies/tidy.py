"""All runs and epochs of a study as rows of one tidy table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.store.files import read_small
from depthgauge.store.metrics_file import Line, read_lines
from depthgauge.store.plan_files import CohortPlan, PlanFiles
from depthgauge.store.run_paths import CONFIG, FAILED, METRICS, RESULT, read_config
from depthgauge.store.study_folder import check_study

Row = list[Any]

CONFIGURED = (
    *("run", "k", "seed", "task", "evaluated_on", "rule", "label", "options", "source"),
    *("net", "width", "blocks", "epochs", "batch_size", "dtype"),
    *("learning_rate", "weight_decay", "penalty", "targets"),
)
MEASURED = ("epoch", "train_loss", "accuracy", "g_over_e", "diverged")
PER_LAYER = ("h_norm", "g_norm")
_measured = itemgetter(*MEASURED)
EPOCHS = CONFIGURED.index("epochs") - len(("run", "k", "seed"))
"""Where the number of epochs stands in what runs of one kind have in common."""


class TidyRun(NamedTuple):
    """What the rows of a run begin with, and the rest of each of them; None for nothing.

    One that is done and has lost epochs is `torn`.
    """

    beginning: Row
    rests: list[Row]
    torn: bool


class TidyTable:
    """One row for each run and epoch, planned runs first; a run without metrics has one row."""

    def __init__(self, folder: Path) -> None:
        check_study(folder)
        self._runs = folder / "runs"
        plan = PlanFiles(folder / "plan").read()
        planned = plan.cohort_of
        started = sorted(entry.name for entry in os.scandir(self._runs)) if self._begun else []
        others = [
            read_config(self._runs / name / CONFIG)
            for name in started
            if name not in planned and (self._runs / name / CONFIG).is_file()
        ]
        self._sources: list[CohortPlan | RunConfig] = [*plan.current, *others]
        self._layers = 1 + max((source.net.blocks for source in self._sources), default=0)

    def __len__(self) -> int:
        """How many cohorts, and runs without one, there are rows of."""
        return len(self._sources)

    @property
    def _begun(self) -> bool:
        return self._runs.is_dir()

    @property
    def columns(self) -> list[str]:
        """Of the configuration, of an epoch, and one for each layer of the deepest network."""
        layers = [f"{name}_{layer}" for name in PER_LAYER for layer in range(self._layers)]
        return [*CONFIGURED, "state", *MEASURED, *layers]

    def runs(self, part: slice) -> Iterator[TidyRun]:
        """The runs of some of the cohorts."""
        for source in self._sources[part]:
            if isinstance(source, CohortPlan):
                described = [
                    _described(source.task, source.net, rule.config, source.recipe)
                    for rule in source.rules
                ]
                for identity, (rule, k, seed) in zip(source.identities, source.runs, strict=True):
                    yield self._run(identity, k, seed, described[rule])
            else:
                alone = _described(source.task, source.net, source.rule, source.recipe)
                yield self._run(source.identity, source.k, source.seed, alone)

    def _run(self, identity: str, k: int, seed: int, described: Row) -> TidyRun:
        run = f"{self._runs}/{identity}"
        lines, state = _lines(f"{run}/{METRICS}") or ({},), _state(run)
        torn = state == "done" and len(lines) != described[EPOCHS] + 1
        beginning = [identity, k, seed, *described, state]
        return TidyRun(beginning, [self._rest(line) for line in lines], torn)

    def _rest(self, line: Line) -> Row:
        """What was measured at an epoch."""
        try:
            rest = list(_measured(line))
        except KeyError:
            rest = [line.get(name) for name in MEASURED]
        for name in PER_LAYER:
            values = line.get(name) or []
            rest += values
            if len(values) < self._layers:
                rest += [None] * (self._layers - len(values))
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
