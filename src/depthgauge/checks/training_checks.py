"""Checks that train several runs together for a few steps, or try the networks of controls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch

from depthgauge.checks.checked_rule import BATCHES, NET, SEEDS, CheckedRule
from depthgauge.checks.outcome import Check, Remark
from depthgauge.config import Recipe, RunConfig
from depthgauge.controls import CONTROLS
from depthgauge.errors import one_line
from depthgauge.training.batches import Batches
from depthgauge.training.stacked_mlp.cohort import Cohort

PENALTY = 0.01
"""λ of the penalty on the branches."""


def trains(checked: CheckedRule, penalty: float = 0.0) -> str | None:
    """Train a few steps with all blocks trained and with all frozen; find infinities and NaN."""
    for dtype in ("float32", "float64"):
        recipe = Recipe(
            epochs=1,
            batch_size=len(checked.task.train) // BATCHES,
            dtype=dtype,
            penalty=penalty,
        )
        broken = _broken_after_training(checked, recipe)
        if broken is not None:
            return (
                f"after {BATCHES} steps of training in {dtype} {broken} is infinite or NaN; check "
                "the size of the credit, or normalise it (option `normalise`)"
            )
    return None


def _broken_after_training(checked: CheckedRule, recipe: Recipe) -> str | None:
    """Train a few steps, and return the name of a value that is infinite or NaN; None if none is.

    The values are the loss, the weights and the feedback.
    """
    task, rule = checked.task.config, checked.choice.config
    configs = [
        RunConfig(task=task, net=NET, rule=rule, recipe=recipe, k=k, seed=seed)
        for k in (NET.blocks, 0)
        for seed in SEEDS[:2]
    ]
    cohort = Cohort(configs, [checked.choice.build() for _ in configs], checked.task)
    batches = Batches(
        checked.task, cohort.seeds, recipe.batch_size, cohort.dtype, targets=recipe.targets
    )
    for number, batch in enumerate(batches.epoch(0)):
        if not bool(cohort.step(batch, number / BATCHES).isfinite().all()):
            return "the loss"
    kept = {f"feedback[{name!r}]": t for own in cohort.feedback for name, t in own.items()}
    held = {f"the weight {name}": tensor for name, tensor in cohort.net.parameters.items()}
    return next((n for n, t in (held | kept).items() if not bool(t.isfinite().all())), None)


def under_controls(checked: CheckedRule) -> str | None:
    """Return a remark if the rule raises an error on the network of a control."""
    for name, control in CONTROLS.items():
        small = CheckedRule(replace(checked.choice, control=name), torch.float32)
        try:
            small.ask(small.lift(small.build(), small.draw_all_feedback()))
        except Exception as error:
            return Remark(
                f"the rule does not work with the control {name} ({control.summary}): "
                f"{one_line(error)}"
            )
    return None


CHECKS = [
    Check("a few steps of training stay finite, blocks frozen and trained", trains),
    Check("training stays finite with a penalty on the branches", partial(trains, penalty=PENALTY)),
    Check("the rule works on the networks of the controls", under_controls),
]
