"""The grid of a study: one run for each combination of a rule, a number k, and a seed.

A run trains the last k blocks of its network. The network has L blocks.
"""

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
from depthgauge.losses.registry import find_loss
from depthgauge.losses.user_losses import name_loss
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.nets.registry import check_net
from depthgauge.nets.user.net_config import count_user_blocks, user_net_config
from depthgauge.rules.choice import RuleChoice, choose_rule
from depthgauge.rules.fitting import check_fit, check_fit_of_residual_mlp
from depthgauge.scheduling.variations import at_all_settings, with_controls, with_floor
from depthgauge.study_config import StudyConfig
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import find_task, load_task

FOLDER_DIGITS = 6

SMALL_LADDER = 8
"""Up to this number of blocks, an audit trains every rung by default."""


def base_of(task: Task, net: NetConfig, recipe: Recipe) -> SharedConfig:
    """Return the configuration that all runs of a study share."""
    return SharedConfig(task=task.config, net=net, recipe=recipe)


@dataclass(frozen=True)
class RunKind:
    """The configuration that all runs of one rule share; `choice` is the rule the user chose."""

    task: TaskConfig
    net: NetConfig
    rule: RuleConfig
    recipe: Recipe
    choice: RuleChoice
    intervention: Intervention = NO_INTERVENTION


@dataclass(frozen=True)
class PlannedRun:
    """One run of a grid; its full configuration is made when it is first used."""

    kind: RunKind
    k: int
    seed: int

    @property
    def choice(self) -> RuleChoice:
        """The rule that the user chose, with its options."""
        return self.kind.choice

    @property
    def is_full(self) -> bool:
        """Whether the network has blocks and all of them follow the rule."""
        return self.config.is_full

    @cached_property
    def identity(self) -> str:
        """The hash that names the run's folder, computed faster than through `config`."""
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
        """The full configuration of the run."""
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
    """Runs that a study needs because of what earlier runs showed, for example swap twins.

    In a swap twin, some of the trained blocks get noise as credit.
    """

    task: Task
    base: SharedConfig
    listed: Sequence[PlannedRun]
    noun: str
    """The word for one of these runs, such as `swap twin`."""

    def runs(self) -> Sequence[PlannedRun]:
        """Return every run."""
        return self.listed


@dataclass(frozen=True)
class Grid:
    """One run for each combination of a rule, a k and a seed, on one task, network and recipe.

    A rule with training options, such as `learning_rate`, has its own recipe. A rule under a
    control may have its own network.
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
        if len(set(labels)) < len(labels):
            raise UserError(f"--rules names a rule twice: {' '.join(labels)}; name each rule once")
        for choice in self.rules:
            self._check_control(choice)
            if not self.net.blocks and choice.control in ("shallow", "wide_block"):
                raise UserError(
                    f"the rule {choice.label} needs a network with blocks, but --depth is 0; "
                    "choose a depth of at least 1"
                )

    def _check_control(self, choice: RuleChoice) -> None:
        """Refuse a control whose change to the network the network does not know."""
        net, changed = self.net, choice.net(self.net)
        if net.is_residual_mlp or changed == net:
            return
        if net.source:
            raise UserError(
                f"the rule {choice.label} needs a changed network, but {net.name} is built by its "
                "own function; leave the control out, or write a function for it"
            )
        if changed != net.model_copy(update={"blocks": changed.blocks}):
            raise UserError(
                f"the control {choice.control} changes what only the net residual_mlp has; leave "
                f"it out for {net.name}"
            )

    @property
    def base(self) -> SharedConfig:
        """The configuration that all runs share."""
        return base_of(self.task, self.net, self.recipe)

    def runs(self) -> list[PlannedRun]:
        """Return every run, ordered by rule, then seed, then falling k."""
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
        """Return the runs of a rule at one k with an intervention, one run for each seed."""
        parts = (self.task.config, choice.net(self.net), choice.config, choice.recipe(self.recipe))
        kind = RunKind(*parts, choice, intervention)
        return [PlannedRun(kind, k, seed) for seed in self.seeds]

    def _ks(self, net: NetConfig) -> list[int]:
        """Return the values of k for a rule with this network, the largest first.

        If the rule's control changes the number of blocks, k is only 0 or the number of blocks.
        """
        ks = self.ks if net.blocks == self.net.blocks else {0, net.blocks}
        return sorted(ks, reverse=True)


def load_task_of(config: StudyConfig) -> Task:
    """Load the task of a study; `config.validation` training samples are held out."""
    try:
        return load_task(config.task, config.validation)
    except UserError as error:
        raise OptionError("task", str(error)) from error


def build_grid(config: StudyConfig, task: Task, rules: Sequence[RuleChoice] | None = None) -> Grid:
    """Return the grid of a study; `rules`, if given, replaces the rules in its configuration."""
    if rules is None:
        rules = at_all_settings(given_rules(config), config.variations)
    controlled = with_controls(rules, config.controls)
    net = net_of(config, task)
    if config.floors and net.blocks and not net.source:
        controlled = with_floor(controlled)
    grid = Grid(task, net, recipe_of(config, task), controlled, ks_of(config), config.seeds)
    if net.is_residual_mlp:
        check_fit_of_residual_mlp(grid.rules, net, task)
    else:
        check_fit(grid.rules, net, task, freezes=any(0 < k < net.blocks for k in grid.ks))
    return grid


def given_rules(config: StudyConfig) -> list[RuleChoice]:
    """Return the rules of a study as the user gave them, without variations and controls."""
    try:
        return [choose_rule(text) for text in config.rules]
    except UserError as error:
        raise OptionError("rules", str(error)) from error


def net_of(config: StudyConfig, task: Task | None = None) -> NetConfig:
    """Return the configuration of the network.

    By default, the task decides the width of residual_mlp; other networks have their own. With
    `task`, a network that does not fit the task is refused. A user's network is built and run on
    some samples of the task, to see what it is. Without `task`, the task is loaded for that.
    """
    try:
        if config.own_net is not None:
            return user_net_config(config.own_net, config.blocks, task or load_task_of(config))
        choice = choose_net(config.net)
        width = config.width or choice.usual_width or find_task(config.task).width
        net = choice.config(width, config.depth)
        if task is not None:
            check_net(net, task)
    except UserError as error:
        raise OptionError("net", str(error)) from error
    return net


def recipe_of(config: StudyConfig, task: Task) -> Recipe:
    """Return the recipe of a study; by default, the task decides on the epochs and the loss."""
    shared = Recipe.model_fields.keys() & StudyConfig.model_fields.keys() - {"epochs", "loss"}
    targets = task.evaluation.y
    try:
        name = name_loss(config.loss or task.loss)
        loss = find_loss(name)
        loss.check(
            targets.shape if task.is_regression else (*targets.shape, task.num_classes), targets
        )
    except UserError as error:
        raise OptionError("loss", str(error)) from error
    return Recipe(
        **{option: getattr(config, option) for option in shared},
        epochs=config.epochs or find_task(config.task).epochs,
        loss=name,
        score=loss.score(targets).name,
    )


def depth_of(config: StudyConfig) -> int:
    """Return the number of blocks: the option `depth`, or what the user's network has."""
    if config.own_net is None or config.checkpoints is not None:
        return config.depth
    try:
        return count_user_blocks(config.own_net, config.blocks)
    except UserError as error:
        raise OptionError("net", str(error)) from error


def ks_of(config: StudyConfig) -> Sequence[int]:
    """Return the numbers of trained blocks; 0 to L for `all`, or if the user gives none."""
    depth = depth_of(config)
    if "all" in config.k or not config.k:
        return list(range(depth + 1))
    given = [k for k in config.k if isinstance(k, int)]
    if max(given) > depth:
        raise OptionError(
            "k",
            f"--k {max(given)} is not possible: the network has {depth} blocks; choose k from 0 to "
            f"{depth}",
        )
    return given


def usual_rungs(depth: int) -> list[int]:
    """Return the values of k that an audit trains by default.

    They are 0 to `depth` in a network of few blocks, and 0, 1, 2, 4, … and `depth` in a deeper one.
    """
    if depth <= SMALL_LADDER:
        return list(range(depth + 1))
    doubling = [2**power for power in range(depth.bit_length()) if 2**power < depth]
    return [0, *doubling, depth]


def folder_of(config: StudyConfig, task: Task) -> Path:
    """Return the study's folder: `out`, or a folder named after task, network and recipe."""
    if config.out is not None:
        return Path(config.out)
    net = net_of(config, task)
    text = json.dumps(
        base_of(task, net, recipe_of(config, task)).model_dump(mode="json"), sort_keys=True
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:FOLDER_DIGITS]
    name = "" if net.is_residual_mlp else f"-{net.name}"
    return Path("runs") / f"{task.name}{name}-d{net.width}-L{net.blocks}-{digest}"
