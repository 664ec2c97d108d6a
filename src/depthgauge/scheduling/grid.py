"""From what was asked for to a grid of runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from depthgauge.config import (
    NO_INTERVENTION,
    Intervention,
    NetConfig,
    Recipe,
    RuleConfig,
    RunConfig,
    SharedConfig,
    TaskConfig,
    identity_of,
)
from depthgauge.errors import OptionError, UserError
from depthgauge.registry import NETS
from depthgauge.rules.choice import RuleChoice, choose_rule
from depthgauge.scheduling.variations import at_all_settings, with_controls, with_floor
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import find_task, load_task

FOLDER_DIGITS = 6

SMALL_LADDER = 8
"""Up to so many blocks, an audit trains every rung."""


def check_list(option: str, values: Sequence[object]) -> None:
    """Refuse an empty list, and one that names something twice."""
    if not values:
        raise UserError(f"{option} is empty; give at least one")
    if len(set(values)) < len(values):
        raise UserError(f"{option} names something twice: {' '.join(map(str, values))}")


def base_of(task: Task, net: NetConfig, recipe: Recipe) -> SharedConfig:
    """Return what all runs of a study have in common."""
    return SharedConfig(task=task.config, net=net, recipe=recipe)


@dataclass(frozen=True)
class RunKind:
    """What runs of one rule have in common, and the rule as it was chosen."""

    task: TaskConfig
    net: NetConfig
    rule: RuleConfig
    recipe: Recipe
    choice: RuleChoice
    intervention: Intervention = NO_INTERVENTION


@dataclass(frozen=True)
class PlannedRun:
    """One run of a grid; its whole configuration is made where it is asked for."""

    kind: RunKind
    k: int
    seed: int

    @property
    def choice(self) -> RuleChoice:
        """The rule that goes with it."""
        return self.kind.choice

    @property
    def is_full(self) -> bool:
        """Whether all blocks follow the rule, and there are some."""
        return self.config.is_full

    @cached_property
    def identity(self) -> str:
        """The name of its folder; takes less than its configuration does."""
        kind = self.kind
        return identity_of(
            kind.task,
            kind.net,
            kind.rule,
            kind.recipe,
            k=self.k,
            seed=self.seed,
            intervention=kind.intervention,
        )

    @cached_property
    def config(self) -> RunConfig:
        """Its configuration."""
        kind = self.kind
        return RunConfig(
            task=kind.task,
            net=kind.net,
            rule=kind.rule,
            recipe=kind.recipe,
            k=self.k,
            seed=self.seed,
            intervention=kind.intervention,
        )


@dataclass(frozen=True)
class RunList:
    """Runs of a study that are trained because of what others came to."""

    task: Task
    base: SharedConfig
    listed: Sequence[PlannedRun]
    noun: str
    """What one of them is called."""

    def runs(self) -> Sequence[PlannedRun]:
        """Every run."""
        return self.listed


@dataclass(frozen=True)
class Grid:
    """Rules × k × seeds on one task, network and recipe.

    A rule may be given options of training or a control: its runs then have a recipe or a network
    of their own.
    """

    task: Task
    net: NetConfig
    recipe: Recipe
    rules: Sequence[RuleChoice]
    ks: Sequence[int]
    seeds: Sequence[int]
    noun: ClassVar[str] = "run"

    def __post_init__(self) -> None:
        labels = [choice.label for choice in self.rules]
        given = {"--rules": labels, "--k": self.ks, "--seeds": self.seeds}
        for name, values in given.items():
            check_list(name, values)
        for choice in self.rules:
            if not self.net.blocks and choice.control in ("shallow", "wide_block"):
                raise UserError(
                    f"{choice.label} makes no sense: the network has no blocks to begin with"
                )
        for k in self.ks:
            if not 0 <= k <= self.net.blocks:
                raise UserError(
                    f"--k {k} is not possible: the network has {self.net.blocks} blocks, so k is "
                    f"from 0 to {self.net.blocks}"
                )

    @property
    def base(self) -> SharedConfig:
        """What all runs have in common."""
        return base_of(self.task, self.net, self.recipe)

    def runs(self) -> list[PlannedRun]:
        """Every run, rule by rule, seed by seed, k falling."""
        return list(self._runs)

    @cached_property
    def _runs(self) -> list[PlannedRun]:
        task = self.task.config
        planned: list[PlannedRun] = []
        for choice in self.rules:
            net, recipe = choice.net(self.net), choice.recipe(self.recipe)
            kind, ks = RunKind(task, net, choice.config, recipe, choice), self._ks(net)
            planned += [PlannedRun(kind, k, seed) for seed in self.seeds for k in ks]
        return planned

    def with_intervention(
        self, choice: RuleChoice, k: int, intervention: Intervention
    ) -> list[PlannedRun]:
        """Return a rung of a rule with an intervention, for every seed."""
        parts = (self.task.config, choice.net(self.net), choice.config, choice.recipe(self.recipe))
        kind = RunKind(*parts, choice, intervention)
        return [PlannedRun(kind, k, seed) for seed in self.seeds]

    def _ks(self, net: NetConfig) -> list[int]:
        """Falling; a control with another number of blocks has its frozen and its full run."""
        ks = self.ks if net.blocks == self.net.blocks else {0, net.blocks}
        return sorted(ks, reverse=True)


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
