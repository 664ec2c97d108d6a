"""The general path against the plain loop: one network at a time, whatever the network."""

from __future__ import annotations

import pytest
import torch
from oracles.every_rule import EveryRule
from oracles.plain_loop import PlainRun
from oracles.swapped import SwappedRun
from training.small_runs import (
    BLOCKS,
    Run,
    Setting,
    batches_of_seed,
    ladder,
    plain_run,
    relative_difference,
    run_config,
    train_cohort,
)

from depthgauge.config import Intervention, Recipe
from depthgauge.training.local.runs import LocalRuns
from depthgauge.training.random_streams import random_stream

RULES = ("bp", "fa", "dfa", "dfa[normalise=batch]", "fa[normalise=none]")
THIRTY_STEPS = Setting(
    recipe=Recipe(epochs=6, batch_size=16, learning_rate=5e-3, weight_decay=0.05, dtype="float64")
)
"""72 samples in batches of 16: five steps an epoch."""


def make_runs(runs: list[Run], setting: Setting = THIRTY_STEPS) -> LocalRuns:
    configs = [run_config(run, setting) for run in runs]
    return LocalRuns(configs, [run.build_rule() for run in runs], setting.task)


def assert_equal(trained: LocalRuns, place: int, plain: PlainRun) -> None:
    ours, theirs = trained.tensors()[place].parameters, plain.net.state_dict()
    for (name, mine), other in zip(ours.items(), theirs.values(), strict=True):
        assert relative_difference(mine, other) < 1e-10, name


@pytest.mark.parametrize("rule", RULES)
def test_every_k_ends_where_the_plain_loop_ends(rule):
    runs = ladder(rule)
    trained = train_cohort(make_runs(runs), THIRTY_STEPS)
    for place, run in enumerate(runs):
        plain = plain_run(run, THIRTY_STEPS).train(batches_of_seed(run.seed, THIRTY_STEPS))
        assert_equal(trained, place, plain)


@pytest.mark.parametrize("rule", ["bp", "dfa"])
def test_a_swap_twin_with_a_frozen_block_ends_where_the_plain_loop_ends(rule):
    run = Run(rule, 42, BLOCKS, Intervention(swapped=(2,), frozen=(1,)))

    def noise(epoch: int, step: int, block: int, shape: torch.Size) -> torch.Tensor:
        return torch.randn(shape, generator=random_stream("swapped", 42, epoch, step, block))

    fields = {"swapped": (2,), "kept": (1,), "noise": staticmethod(noise), "steps_per_epoch": 5}
    oracle = type("Oracle", (SwappedRun,), fields)
    plain = plain_run(run, THIRTY_STEPS, oracle).train(batches_of_seed(42, THIRTY_STEPS))
    assert_equal(train_cohort(make_runs([run]), THIRTY_STEPS), 0, plain)


OTHERS = [
    "sdfa",
    "drtp",
    "noise",
    "ep[steps=2]",
    "ep[steps=2,credit=displacement]",
    "state_bridge[hidden=6]",
    "credit_bridge[hidden=6,copies=2,warm_up=0.4]",
]


@pytest.mark.parametrize(
    ("rule", "k"),
    [
        pytest.param(rule, k, marks=() if k == 2 else pytest.mark.slow)
        for rule in OTHERS
        for k in range(BLOCKS + 1)
    ],
)
def test_every_other_rule_ends_where_a_plain_loop_with_its_slow_credit_ends(rule, k):
    """Credit is computed sample by sample, by code that shares nothing with the package."""
    run, setting = Run(rule, 42, k), THIRTY_STEPS
    trained, made = make_runs([run]), run.build_rule()
    given = {n: t.clone() for n, t in trained.tensors()[0].feedback.items()}
    streams: dict[int, torch.Generator] = {}

    def noise(epoch: int, step: int, states) -> torch.Tensor:
        stream = streams.setdefault(epoch, random_stream("noise", 42, epoch))
        return torch.randn(made.noise_shape(states), generator=stream)

    plain = plain_run(run, setting, EveryRule).begin(given, made.options, noise)
    plain.train(batches_of_seed(42, setting))
    assert_equal(train_cohort(trained, setting), 0, plain)
