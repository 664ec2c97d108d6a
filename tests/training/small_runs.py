"""Small tasks and cohorts, and the comparison of a cohort with the plain loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from oracles.plain_loop import PlainRun, SampleBatch
from torch import Tensor

from depthgauge.config import (
    NO_INTERVENTION,
    Intervention,
    NetConfig,
    Recipe,
    RuleConfig,
    RunConfig,
    TaskConfig,
)
from depthgauge.rules.choice import choose_rule
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import evaluation_inputs
from depthgauge.training.batches import Batches
from depthgauge.training.precision import DTYPES
from depthgauge.training.stacked_mlp.cohort import Cohort

chosen = cache(choose_rule)
"""Cached, since looking for a rule among all installed packages is slow."""

SAMPLES, FEATURES, CLASSES = 72, 12, 5
WIDTH, BLOCKS = 16, 3


def make_task(samples: int = SAMPLES, features: int = FEATURES, classes: int = CLASSES) -> Task:
    """Make a task whose labels come from a random linear teacher, so that it can be learned."""
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(samples + 200, features, generator=generator)
    teacher = torch.randn(features, classes, generator=generator)
    y = (x @ teacher).argmax(1)
    return Task("tiny", Split(x[:samples], y[:samples]), Split(x[samples:], y[samples:]), classes)


@dataclass(frozen=True)
class Setting:
    """What the runs of a comparison share."""

    task: Task = field(default_factory=make_task)
    net: NetConfig = field(default_factory=lambda: NetConfig(width=WIDTH, blocks=BLOCKS))
    recipe: Recipe = field(
        default_factory=lambda: Recipe(
            epochs=6, batch_size=16, learning_rate=5e-3, weight_decay=0.05, dtype="float64"
        )
    )

    @property
    def dtype(self) -> torch.dtype:
        return DTYPES[self.recipe.dtype]


@dataclass(frozen=True)
class Run:
    """One run: a rule, or its text such as `dfa[normalise=batch]`; a seed; k; an intervention."""

    rule: str | Rule
    seed: int
    k: int
    intervention: Intervention = NO_INTERVENTION

    def build_rule(self) -> Rule:
        return chosen(self.rule).build() if isinstance(self.rule, str) else self.rule


def ladder(rule: str | Rule, seeds: Sequence[int] = (42, 7), blocks: int = BLOCKS) -> list[Run]:
    """Return a run for every k of every seed, largest k first."""
    return [Run(rule, seed, k) for k in range(blocks, -1, -1) for seed in seeds]


def run_config(run: Run, setting: Setting) -> RunConfig:
    rule = run.build_rule()
    return RunConfig(
        task=TaskConfig(name=setting.task.name, checksum=setting.task.checksum),
        net=setting.net,
        rule=RuleConfig(name=rule.name, label=rule.name, options=rule.options.model_dump()),
        recipe=setting.recipe,
        k=run.k,
        seed=run.seed,
        intervention=run.intervention,
    )


def make_cohort(runs: Sequence[Run], setting: Setting, device: str = "cpu") -> Cohort:
    """Make an untrained cohort; the runs must be sorted by k, largest first."""
    rules = [run.build_rule() for run in runs]
    return Cohort([run_config(run, setting) for run in runs], rules, setting.task, device)


def make_batches(cohort: Cohort, setting: Setting) -> Batches:
    """Make the batches of a cohort on its device."""
    recipe, targets = setting.recipe, setting.recipe.targets
    place = (cohort.dtype, cohort.device)
    return Batches(setting.task, cohort.seeds, recipe.batch_size, *place, targets=targets)


def train_cohort(
    cohort: Cohort,
    setting: Setting,
    after_step: Callable[[Cohort, int], None] | None = None,
    first_epoch: int = 0,
    epochs: int | None = None,
) -> Cohort:
    """Train a cohort; call `after_step` with the cohort and the step number after every step."""
    batches = make_batches(cohort, setting)
    last = setting.recipe.epochs if epochs is None else first_epoch + epochs
    step = first_epoch * len(batches)
    for epoch in range(first_epoch, last):
        cohort.start_epoch(epoch)
        for batch in batches.epoch(epoch):
            cohort.step(batch, epoch / setting.recipe.epochs)
            step += 1
            if after_step is not None:
                after_step(cohort, step)
    return cohort


def batches_of_seed(seed: int, setting: Setting) -> list[list[SampleBatch]]:
    """Return the batches that the package makes for one seed, epoch by epoch."""
    batches = Batches(setting.task, [seed], setting.recipe.batch_size, setting.dtype)
    return [
        [(batch.inputs[0], batch.labels[0]) for batch in batches.epoch(epoch)]
        for epoch in range(setting.recipe.epochs)
    ]


def plain_run(run: Run, setting: Setting, kind: type[PlainRun] = PlainRun) -> PlainRun:
    """Make the plain loop's version of `run`, untrained."""
    rule = run.build_rule()
    return kind(
        rule.name,
        run.seed,
        input_dim=setting.task.input_dim,
        width=setting.net.width,
        classes=setting.task.num_classes,
        num_blocks=setting.net.blocks,
        k=run.k,
        epochs=setting.recipe.epochs,
        learning_rate=setting.recipe.learning_rate,
        weight_decay=setting.recipe.weight_decay,
        normalise=rule.options.normalise,
        epsilon=rule.options.epsilon,
        dtype=setting.dtype,
        residual_add=setting.net.residual_add,
        w2_std=setting.net.w2_std,
        terminal_norm=setting.net.terminal_norm,
    )


def train_plain(run: Run, setting: Setting, kind: type[PlainRun] = PlainRun) -> PlainRun:
    return plain_run(run, setting, kind).train(batches_of_seed(run.seed, setting))


def relative_difference(ours: Tensor, theirs: Tensor) -> float:
    """Return max|a − b| / max|b|."""
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    difference = (ours - theirs).abs().max()
    return 0.0 if difference == 0 else float(difference / theirs.abs().max())


def worst_difference(cohort: Cohort, run: int, plain: PlainRun) -> float:
    """Return the largest of `differences`; NaN counts as the largest."""
    far = differences(cohort, run, plain).values()
    return max(far, key=lambda value: math.inf if math.isnan(value) else value)


def snapshot(cohort: Cohort, run: int) -> dict[str, Tensor]:
    """Copy a run's parameters."""
    return {name: p.clone() for name, p in cohort.net.state_of_run(run).items()}


def correct(cohort: Cohort, setting: Setting) -> list[int]:
    """Count for each run the evaluation samples that it answers correctly."""
    held = evaluation_inputs(setting.task, setting.dtype)
    logits = cohort.net.forward_shared(held.x).logits
    return (logits.argmax(-1) == held.y).sum(1).tolist()


def differences(cohort: Cohort, run: int, plain: PlainRun) -> dict[str, float]:
    """Return for each parameter the relative difference from the plain loop's network."""
    ours, theirs = cohort.net.state_of_run(run), plain.net.state_dict()
    assert len(ours) == len(theirs)
    return {
        name: relative_difference(mine, other)
        for (name, mine), other in zip(ours.items(), theirs.values(), strict=True)
    }
