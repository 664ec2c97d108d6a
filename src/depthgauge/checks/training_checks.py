"""Checks that train: a few steps of a cohort, and the networks of the controls."""

from __future__ import annotations

from dataclasses import replace

import torch

from depthgauge.checks.bench import BATCHES, NET, SEEDS, Bench
from depthgauge.checks.outcome import Check, Remark
from depthgauge.config import Recipe, RunConfig
from depthgauge.controls import CONTROLS
from depthgauge.errors import one_line
from depthgauge.training.batches import Batches
from depthgauge.training.cohort import Cohort


def trains(bench: Bench) -> str | None:
    """Frozen and full runs, as they are."""
    return _trained(bench, penalty=0.0)


def trains_with_penalty(bench: Bench) -> str | None:
    """The same with λ = 0.01 on the branches."""
    return _trained(bench, penalty=0.01)


def _trained(bench: Bench, penalty: float) -> str | None:
    for dtype in ("float32", "float64"):
        recipe = Recipe(
            epochs=1,
            batch_size=len(bench.task.train) // BATCHES,
            dtype=dtype,
            penalty=penalty,
        )
        broken = _broken_after_training(bench, recipe)
        if broken is not None:
            return (
                f"after {BATCHES} steps of training in {dtype} {broken} is not finite; look at "
                "the size of the credit, and at `normalise`"
            )
    return None


def _broken_after_training(bench: Bench, recipe: Recipe) -> str | None:
    """The name of something that is not finite after a few steps, full runs first."""
    task, rule = bench.task.config, bench.choice.config
    configs = [
        RunConfig(task=task, net=NET, rule=rule, recipe=recipe, k=k, seed=seed)
        for k in (NET.blocks, 0)
        for seed in SEEDS[:2]
    ]
    cohort = Cohort(configs, [bench.choice.build() for _ in configs], bench.task)
    batches = Batches(
        bench.task, cohort.seeds, recipe.batch_size, cohort.dtype, targets=recipe.targets
    )
    for number, batch in enumerate(batches.epoch(0)):
        if not bool(cohort.step(batch, number / BATCHES).isfinite().all()):
            return "the loss"
    kept = {f"feedback[{name!r}]": t for own in cohort.feedback for name, t in own.items()}
    held = {f"the weight {name}": tensor for name, tensor in cohort.net.parameters.items()}
    return next((n for n, t in (held | kept).items() if not bool(t.isfinite().all())), None)


def under_controls(bench: Bench) -> str | None:
    """A rule may not fit a control; that is worth knowing before a study asks for it."""
    for name, control in CONTROLS.items():
        small = Bench(replace(bench.choice, control=name), torch.float32)
        try:
            small.ask(small.lift(small.fresh(), small.all_feedback()))
        except Exception as error:
            return Remark(
                f"the control {name} ({control.summary}) will not work: {one_line(error)}"
            )
    return None


CHECKS = [
    Check("a few steps of training stay finite, blocks frozen and trained", trains),
    Check("the same with a penalty on the branches", trains_with_penalty),
    Check("the rule works on the networks of the controls", under_controls),
]
