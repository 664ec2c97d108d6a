"""All runs and epochs of a study as rows of one tidy table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from depthgauge.config import RunConfig
from depthgauge.store.metrics_file import MetricsFile
from depthgauge.store.plan_files import PlanFiles
from depthgauge.store.run_paths import RunPaths
from depthgauge.studies.status import check_study

Row = dict[str, Any]
PER_LAYER = ("h_norm", "g_norm")


def tidy_rows(folder: Path) -> Iterator[Row]:
    """One row for each run and epoch, planned or not, in the order of the plan.

    A run without metrics yet has one row, without an epoch.
    """
    check_study(folder)
    runs, seen = folder / "runs", set()
    for cohort in PlanFiles(folder / "plan").read().current:
        for config in cohort.configs:
            seen.add(config.identity)
            yield from _rows(RunPaths(runs / config.identity), _described(config))
    for path in sorted(runs.glob("*/config.json")):
        if path.parent.name not in seen:
            config = RunConfig.model_validate_json(path.read_text(encoding="utf-8"))
            yield from _rows(RunPaths(path.parent), _described(config))


def columns_of(folder: Path) -> list[str]:
    """The columns of the table: those of every row, and one for each layer of the deepest net."""
    deepest = 0
    for cohort in PlanFiles(folder / "plan").read().current:
        deepest = max(deepest, cohort.net.blocks)
    for path in folder.glob("runs/*/config.json"):
        if not deepest:
            deepest = int(json.loads(path.read_text(encoding="utf-8"))["net"]["blocks"])
    layers = [f"{name}_{layer}" for name in PER_LAYER for layer in range(deepest + 1)]
    return [*CONFIGURED, "state", "epoch", "train_loss", "accuracy", "diverged", *layers]


CONFIGURED = (
    *("run", "task", "evaluated_on", "rule", "label", "options", "k", "seed"),
    *("net", "width", "blocks", "epochs", "batch_size", "dtype"),
    *("learning_rate", "weight_decay", "penalty", "targets"),
)


def _described(config: RunConfig) -> Row:
    """The configuration, flat."""
    recipe = config.recipe
    return {
        "run": config.identity,
        "task": config.task.name,
        "evaluated_on": config.task.evaluated_on,
        "rule": config.rule.name,
        "label": config.rule.label,
        "options": json.dumps(config.rule.options, sort_keys=True),
        "k": config.k,
        "seed": config.seed,
        "net": config.net.name,
        "width": config.net.width,
        "blocks": config.net.blocks,
        "epochs": recipe.epochs,
        "batch_size": recipe.batch_size,
        "dtype": recipe.dtype,
        "learning_rate": recipe.learning_rate,
        "weight_decay": recipe.weight_decay,
        "penalty": recipe.penalty,
        "targets": recipe.targets,
    }


def _rows(paths: RunPaths, described: Row) -> Iterator[Row]:
    state = "failed" if paths.failed_path.exists() else "not done"
    described = described | {"state": "done" if paths.result_path.exists() else state}
    lines = MetricsFile(paths.metrics_path).lines()
    if not lines:
        yield described
    for line in lines:
        row = described | {n: line.get(n) for n in ("epoch", "train_loss", "accuracy", "diverged")}
        for name in PER_LAYER:
            row |= {f"{name}_{layer}": value for layer, value in enumerate(line.get(name) or [])}
        yield row
