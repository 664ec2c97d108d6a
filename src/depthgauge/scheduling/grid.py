"""From what was asked for to a grid of runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from depthgauge.config import NetConfig, Recipe
from depthgauge.errors import OptionError, UserError
from depthgauge.registry import NETS
from depthgauge.rules.choice import RuleChoice, choose_rule
from depthgauge.scheduling.plan import Grid, base_of
from depthgauge.scheduling.variations import at_all_settings, with_controls, with_floor
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import find_task, load_task

FOLDER_DIGITS = 6

SMALL_LADDER = 8
"""Up to so many blocks, an audit trains every rung."""


def load_task_of(config: StudyConfig) -> Task:
    """Load the task of a study, down to the samples that are held out."""
    try:
        return load_task(config.task, config.validation)
    except UserError as error:
        raise OptionError("task", str(error)) from error


def build_grid(config: StudyConfig, task: Task, rules: Sequence[RuleChoice] | None = None) -> Grid:
    """Return the runs that a study describes; `rules` where they were chosen otherwise."""
    if rules is None:
        rules = at_all_settings(given_rules(config), config.variations)
    controlled = with_controls(rules, config.controls)
    if config.floors and config.depth:
        controlled = with_floor(controlled)
    return Grid(task, net_of(config), recipe_of(config), controlled, ks_of(config), config.seeds)


def given_rules(config: StudyConfig) -> list[RuleChoice]:
    """Return the rules of a study as they were given."""
    try:
        return [choose_rule(text) for text in config.rules]
    except UserError as error:
        raise OptionError("rules", str(error)) from error


def net_of(config: StudyConfig) -> NetConfig:
    """Return the network of a study; a task may come with a width of its own."""
    try:
        NETS.find(config.net)
    except UserError as error:
        raise OptionError("net", str(error)) from error
    width = config.width or find_task(config.task).width
    return NetConfig(name=config.net, width=width, blocks=config.depth)


def recipe_of(config: StudyConfig) -> Recipe:
    """Return the recipe of a study; a task may come with a number of epochs of its own."""
    epochs = config.epochs or find_task(config.task).epochs
    return Recipe(epochs=epochs, batch_size=config.batch_size, dtype=config.dtype)


def ks_of(config: StudyConfig) -> Sequence[int]:
    """Return the numbers of trained blocks; all of them where that was asked, or nothing was."""
    if "all" in config.k or not config.k:
        return list(range(config.depth + 1))
    return [k for k in config.k if isinstance(k, int)]


def usual_rungs(depth: int) -> list[int]:
    """Return the rungs that an audit trains where it was not said: all, or 0, 1, 2, 4, … L."""
    if depth <= SMALL_LADDER:
        return list(range(depth + 1))
    doubling = [2**power for power in range(depth.bit_length()) if 2**power < depth]
    return [0, *doubling, depth]


def folder_of(config: StudyConfig, task: Task) -> Path:
    """Return the folder asked for, or one that only this task, network and recipe lead to."""
    if config.out is not None:
        return Path(config.out)
    net = net_of(config)
    text = json.dumps(base_of(task, net, recipe_of(config)).model_dump(mode="json"), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:FOLDER_DIGITS]
    return Path("runs") / f"{task.name}-d{net.width}-L{net.blocks}-{digest}"
