"""Studies on disk with the accuracies that a test wants, made without training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditing.audited_networks import audit_of, audited
from store.small_runs_on_disk import BASE, RECIPE, TASK, finished, run_config

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, SharedConfig, TaskConfig
from depthgauge.controls import CONTROLS, control_in
from depthgauge.results.audit import Audit
from depthgauge.results.compare import compare_studies
from depthgauge.results.comparison import Comparison
from depthgauge.results.load import load
from depthgauge.store.plan_files import CohortPlan, PlanFile, PlannedRule
from depthgauge.store.study_folder import StudyFolder

Accuracies = Mapping[str, Mapping[int, Mapping[int, float | None]]]
"""By rule, k and seed; None for a run that diverged."""

BP = {0: {1: 0.30, 2: 0.30}, 1: {1: 0.4, 2: 0.4}, 2: {1: 0.60, 2: 0.64}}
SIX_EPOCHS = RECIPE.model_copy(update={"epochs": 6})


def compared(*folders: Path, to: str | None = None) -> Comparison:
    return compare_studies([load(folder) for folder in folders], to)


def write_study(
    folder: Path,
    accuracies: Accuracies,
    *,
    recipe: Recipe = RECIPE,
    task: TaskConfig | None = None,
    net: NetConfig | None = None,
    source: str = "",
    readings: Mapping[str, Mapping[str, Any]] | None = None,
    **provenance: Any,
) -> Path:
    """A finished study of these runs; `readings` stand in every line of a rule's metrics."""
    parts = {"recipe": recipe, "task": task, "net": net}
    given = {name: part for name, part in parts.items() if part is not None}
    base = BASE.model_copy(update=given)
    study = StudyFolder(folder)
    study.open(base, "cpu", None, 1)
    for rule, rungs in accuracies.items():
        for k, seeds in rungs.items():
            for seed, accuracy in seeds.items():
                config = _under_control(run_config(rule, k, seed, source).model_copy(update=given))
                diverged = 1 if accuracy is None else None
                read = (readings or {}).get(rule, {})
                done = finished(study.runs, config, accuracy or 0.0, diverged, **read)
                change_json(done.result_path, provenance={"commit": None} | provenance)
    return folder


def _under_control(config: RunConfig) -> RunConfig:
    """As the label says: `dfa[wide_block]` is dfa on another network."""
    name, label = config.rule.label.partition("[")[0], config.rule.label
    rule = RuleConfig(name=name, label=label, source=config.rule.source)
    changes: dict[str, Any] = {"rule": rule}
    control = control_in(label)
    if control is not None:
        changes["net"] = CONTROLS[control].net(config.net)
        changes["recipe"] = config.recipe.model_copy(update=CONTROLS[control].training)
    return config.model_copy(update=changes)


def put_plan(study: StudyFolder, configs: Sequence[RunConfig], chance: float | None) -> CohortPlan:
    """Add these runs to the plan, as one cohort."""
    rules = list(dict.fromkeys(config.rule.as_text for config in configs))
    known = {config.rule.as_text: config.rule for config in configs}
    cohort = CohortPlan(
        task=configs[0].task,
        net=configs[0].net,
        recipe=configs[0].recipe,
        rules=tuple(PlannedRule(config=known[text], typed=known[text].label) for text in rules),
        runs=tuple((rules.index(c.rule.as_text), c.k, c.seed) for c in configs),
    )
    file = PlanFile(task="tiny", validation=0, samples=9, cohorts=[cohort], chance=chance)
    assert study.plan_files.add(study.plan_files.read(), file)
    return cohort


def change_json(path: Path, **fields: Any) -> None:
    """Change some fields of a file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def change_losses(study: Path, train_loss: float) -> None:
    """As another machine would leave them: the same accuracies, another loss in the last digits."""
    for path in study.glob("runs/*/metrics.jsonl"):
        lines = [json.loads(line) | {"train_loss": train_loss} for line in path.open()]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def put_audit(folder: Path, audit: Audit) -> Path:
    """Write `audit.json` as the command does."""
    folder.mkdir(exist_ok=True)
    (folder / "audit.json").write_text(audit.model_dump_json())
    return folder


def write_audit(folder: Path, accuracies: Mapping[str, Mapping[int, tuple[float, float]]]) -> Path:
    """An audit of networks from elsewhere, with accuracy and frozen accuracy by rule and seed."""
    networks = [
        audited(rule, seed, accuracy, frozen)
        for rule, seeds in accuracies.items()
        for seed, (accuracy, frozen) in seeds.items()
    ]
    config = SharedConfig(task=TASK, frozen_acc={"bp": 0.3})
    provenance = {"version": "1.0", "processor": "one"}
    return put_audit(folder, audit_of(*networks, config=config, chance=0.1, provenance=provenance))
