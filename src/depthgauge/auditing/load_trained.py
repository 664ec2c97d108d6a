"""Load a trained network and its task from the path that a user gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from depthgauge.auditing.trained_network import (
    TrainedNetwork,
    check_fits,
    is_run,
    load_residual_mlp,
    load_run,
    open_run,
)
from depthgauge.errors import UserError
from depthgauge.registry import TASKS
from depthgauge.rules.choice import choose_rule
from depthgauge.store.relative_paths import TASKS as SAVED_TASKS
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import load_task


def load_trained(
    path: Path, task_name: str | None, rule_text: str | None, validation: int = 0
) -> tuple[TrainedNetwork, Task]:
    """Load a network and its task from a run's folder, a run's checkpoint, or another file.

    For a run, the task and the rule are known; for another file, `task_name` is required.
    `validation` is the number of held-out training samples on which the network is to be measured;
    0 means that it is to be measured on the test split.
    """
    choice = choose_rule(rule_text) if rule_text else None
    rule = choice.build() if choice else None
    if not path.exists():
        raise UserError(f"there is no run or checkpoint {path}; check the path")
    if path.is_dir() and not is_run(path):
        raise UserError(
            f"the folder {path} is not a run; give the folder of a run, or a checkpoint file"
        )
    if not is_run(path):
        task = load_named_task(path, task_name, validation)
        trained = replace(load_residual_mlp(path, rule), loss=task.loss)
        check_fits(trained, task)
        return trained, task
    folder = open_run(path)
    config = folder.config.task
    saved = folder.path.parent.parent / SAVED_TASKS / f"{config.name}.npz"
    if task_name is None and config.name not in TASKS.names and saved.is_file():
        task_name = str(saved)
    if task_name is None and config.name not in TASKS.names:
        raise UserError(
            f"{path} was trained on a user's own data, {config.name}; give the file of these data "
            "with --task"
        )
    if config.evaluated_on == "validation" and not validation:
        raise UserError(
            f"{path} was evaluated on held-out training samples; give --validation with the number "
            "that its study used"
        )
    task = load_task(task_name or config.name, validation)
    if task.checksum != config.checksum:
        raise UserError(
            f"{path} was not trained on the data of the task {task.name}; give the file of its "
            "training data with --task"
        )
    own = folder.config.rule
    if choice and (choice.rule_class.name, choice.source) != (own.name, own.source):
        raise UserError(f"{path} was trained by {own.label}, not by {rule_text}; leave out --rule")
    if choice:
        rule = choice.rule_class(choice.rule_class.Options.model_validate(own.options))
    return load_run(folder, task, rule), task


def load_named_task(path: Path, name: str | None, validation: int = 0) -> Task:
    """Load the task that the user named for a checkpoint file; refuse a missing name."""
    if name is None:
        raise UserError(
            f"{path} does not say on which task it was trained; name the task with --task"
        )
    return load_task(name, validation)
