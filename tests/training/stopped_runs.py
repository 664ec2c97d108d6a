"""Small cohorts of every kind, trained with and without stops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from training.recorded_runs import InMemory, train
from training.small_images import PIXELS, random_images
from training.small_runs import CLASSES, Run, Setting, make_cohort

from depthgauge.config import Recipe
from depthgauge.tasks.base import Split, Task
from depthgauge.training.loop import StoppedEarlyError
from depthgauge.training.trainee import RunState

RECIPE = Recipe(epochs=2, batch_size=30, learning_rate=5e-3)
STEPS_PER_EPOCH = 3  # 72 samples in batches of 30
STEPS = RECIPE.epochs * STEPS_PER_EPOCH


@dataclass(frozen=True)
class Case:
    """Runs, and the setting that they share."""

    runs: Sequence[Run]
    setting: Setting = field(default_factory=lambda: Setting(recipe=RECIPE))


def with_recipe(**changes: object) -> Setting:
    return Setting(recipe=RECIPE.model_copy(update=changes))


def images() -> Setting:
    """Training images are cropped and flipped at random."""
    x, y = random_images(92), torch.arange(92) % CLASSES
    task = Task("images", Split(x[:72], y[:72]), Split(x[72:], y[72:]), CLASSES, PIXELS)
    return Setting(task=task, recipe=RECIPE)


def runs_of(*rules: str) -> list[Run]:
    """Two seeds of each rule in full, and one run that trains a block less."""
    full = [Run(rule, seed, 3) for rule in rules for seed in (42, 7)]
    return [*full, *(Run(rule, 42, 2) for rule in rules)]


STATE_BRIDGE, CREDIT_BRIDGE = "state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2]"
CASES = {
    "bp": Case(runs_of("bp")),
    "fa": Case(runs_of("fa")),
    "dfa": Case(runs_of("dfa")),
    "state bridge": Case(runs_of(STATE_BRIDGE)),
    "credit bridge": Case(runs_of(CREDIT_BRIDGE)),
    "equilibrium propagation": Case([Run("ep[steps=2]", 1, 3)]),
    "several options": Case(runs_of("dfa", "dfa[normalise=batch]")),
    "several options that draw noise": Case(
        runs_of(CREDIT_BRIDGE, "credit_bridge[hidden=8,copies=3,warm_up=0]")
    ),
    "random targets": Case(runs_of("dfa"), with_recipe(targets="random")),
    "images": Case(runs_of("bp"), images()),
    "double precision": Case(runs_of("dfa"), with_recipe(dtype="float64")),
    "penalised": Case(runs_of("bp"), with_recipe(penalty=0.01)),
}


@cache
def undisturbed(name: str) -> InMemory:
    """Train without a stop, and save only at the end. The result is shared: do not change it."""
    case = CASES[name]
    return train(make_cohort(case.runs, case.setting), case.setting, save_every=1e9)


def stopped(case: Case, stops: Collection[int]) -> InMemory:
    """Stop training after each of these steps, and continue it with a new cohort.

    The feedback of the new cohort is set to zero first, so everything must come from the states.
    """
    recorder, start, taken = InMemory(), None, 0

    def stop() -> bool:
        nonlocal taken
        taken += 1
        return taken in stops

    while True:
        cohort = make_cohort(case.runs, case.setting)
        for own in cohort.feedback if start else ():
            for tensor in own.values():
                tensor.zero_()
        try:
            part = train(cohort, case.setting, recorder, start=start, save_every=1e9, stop=stop)
        except StoppedEarlyError:
            start = recorder.states[-1]
        else:
            assert taken == STEPS, "no step is taken twice"
            return part


def positions(saved: Sequence[Sequence[RunState]]) -> list[tuple[int, int]]:
    """Return the position of each save, which must be the same for all runs."""
    assert all(len({state.position for state in states}) == 1 for states in saved)
    return [states[0].position for states in saved]
