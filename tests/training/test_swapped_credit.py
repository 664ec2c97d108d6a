"""Runs whose blocks learn from noise, or stay as they are though blocks before them learn."""

from __future__ import annotations

import pytest
import torch
from oracles.swapped import SwappedRun
from training.compare_cohorts import assert_alike
from training.recorded_runs import InMemory
from training.small_runs import (
    BLOCKS,
    Run,
    Setting,
    make_cohort,
    run_config,
    snapshot,
    train_cohort,
    train_plain,
    worst_difference,
)

from depthgauge.config import Intervention, NetConfig, Recipe
from depthgauge.training import loop
from depthgauge.training.local.runs import LocalRuns
from depthgauge.training.random_streams import random_stream
from depthgauge.training.swapped_credit import SwappedCredit

RECIPE = Recipe(epochs=3, batch_size=16, learning_rate=5e-3, weight_decay=0.05, dtype="float64")
SETTING = Setting(recipe=RECIPE, net=NetConfig(width=16, blocks=BLOCKS, w2_std=0.2))
PENALISED = Setting(recipe=RECIPE.model_copy(update={"penalty": 0.1}), net=SETTING.net)
STEPS = 5
RULES = ["bp", "fa", "dfa", "ep", "noise"]
INTERVENTIONS = {
    "the first block": Intervention(swapped=(0,)),
    "two blocks": Intervention(swapped=(0, 2)),
    "a block, and one frozen": Intervention(swapped=(2,), frozen=(1,)),
}


def twins(rule: str) -> list[Run]:
    """Every rung's swap twin, for two seeds."""
    return [
        Run(rule, seed, k, Intervention(swapped=(BLOCKS - k,)))
        for k in range(BLOCKS, 0, -1)
        for seed in (42, 7)
    ]


def oracle_of(run: Run) -> type[SwappedRun]:
    def noise(epoch: int, step: int, block: int, shape: torch.Size) -> torch.Tensor:
        return torch.randn(shape, generator=random_stream("swapped", run.seed, epoch, step, block))

    fields = {
        "swapped": run.intervention.swapped,
        "kept": run.intervention.frozen,
        "noise": staticmethod(noise),
        "steps_per_epoch": STEPS,
    }
    return type("Oracle", (SwappedRun,), fields)


@pytest.mark.parametrize("rule", ["bp", "fa", "dfa"])
def test_a_twin_is_what_the_plain_loop_trains(rule):
    runs = twins(rule)
    cohort = train_cohort(make_cohort(runs, SETTING), SETTING)
    for place, run in enumerate(runs):
        plain = train_plain(run, SETTING, oracle_of(run))
        assert worst_difference(cohort, place, plain) < 1e-9, run


@pytest.mark.parametrize("rule", ["bp", "dfa"])
@pytest.mark.parametrize("name", INTERVENTIONS)
def test_some_blocks_swapped_or_frozen_is_what_the_plain_loop_trains(rule, name):
    run = Run(rule, 42, BLOCKS, INTERVENTIONS[name])
    cohort = make_cohort([run], SETTING)
    before = snapshot(cohort, 0)
    plain = train_plain(run, SETTING, oracle_of(run))
    train_cohort(cohort, SETTING)
    assert worst_difference(cohort, 0, plain) < 1e-9
    for block in range(BLOCKS):
        names = [name for name in before if name.startswith(f"blocks.{block}.")]
        after = cohort.net.state_of_run(0)
        is_kept = all(torch.equal(before[name], after[name]) for name in names)
        assert is_kept == (block in run.intervention.frozen)


@pytest.mark.parametrize("setting", [SETTING, PENALISED], ids=["plain", "penalised"])
@pytest.mark.parametrize("rule", RULES)
def test_both_engines_train_the_same_twins(rule, setting):
    runs = twins(rule)
    configs = [run_config(run, setting) for run in runs]
    one_by_one = LocalRuns(configs, [run.build_rule() for run in runs], setting.task)
    together = train_cohort(make_cohort(runs, setting), setting)
    assert_alike(together, train_cohort(one_by_one, setting), 1e-8)


def test_without_an_intervention_nothing_changes():
    run = Run("bp", 42, BLOCKS)
    beside_a_twin = [run, Run("bp", 42, BLOCKS, Intervention(swapped=(1,)))]
    alone = snapshot(train_cohort(make_cohort([run], SETTING), SETTING), 0)
    beside = snapshot(train_cohort(make_cohort(beside_a_twin, SETTING), SETTING), 0)
    assert all(torch.allclose(alone[name], beside[name], rtol=1e-12) for name in alone)


@pytest.mark.parametrize("rule", ["bp", "dfa"])
def test_a_stop_within_an_epoch_changes_no_bit(rule):
    runs = twins(rule)
    whole = InMemory()
    loop.train_cohort(make_cohort(runs, SETTING), SETTING.task, whole, observers=[])
    stopped, steps = InMemory(), iter(range(100))
    with pytest.raises(loop.StoppedEarlyError):
        loop.train_cohort(
            make_cohort(runs, SETTING),
            SETTING.task,
            stopped,
            observers=[],
            stop=lambda: next(steps) == STEPS + 1,
        )
    assert stopped.states[-1][0].position == (1, 2)
    loop.train_cohort(
        make_cohort(runs, SETTING), SETTING.task, stopped, observers=[], start=stopped.states[-1]
    )
    for ours, theirs in zip(whole.states[-1], stopped.states[-1], strict=True):
        assert all(torch.equal(ours.parameters[n], theirs.parameters[n]) for n in ours.parameters)


@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
def test_noise_is_as_long_as_the_credit_of_each_sample(scale):
    config = run_config(Run("bp", 3, 1, Intervention(swapped=(2,))), SETTING)
    swapped = SwappedCredit([config])
    credit = scale * torch.randn(1, 8, 16)
    credit[0, 3] = 0
    found = swapped.of_block(2, credit)
    lengths, own = found.double().norm(dim=-1), credit.double().norm(dim=-1)
    assert torch.allclose(lengths, own, rtol=1e-6, atol=0)
    assert found.isfinite().all()
    cosines = torch.cosine_similarity(found.double() / scale, credit.double() / scale, dim=-1)
    assert cosines.abs().max() < 0.9
    assert swapped.of_block(1, credit) is credit


def test_noise_differs_between_steps_blocks_and_seeds():
    intervention = Intervention(swapped=(0, 1))
    configs = [run_config(Run("bp", seed, BLOCKS, intervention), SETTING) for seed in (1, 2)]
    swapped, credit = SwappedCredit(configs), torch.ones(2, 4, 16)
    first, other_block = swapped.of_block(0, credit), swapped.of_block(1, credit)
    swapped.next_step()
    later = swapped.of_block(0, credit)
    drawn = [*first, *other_block, *later]
    assert not any(
        torch.equal(one, other) for i, one in enumerate(drawn) for other in drawn[i + 1 :]
    )
    swapped.start(0, 1)
    assert torch.equal(swapped.of_block(0, credit), later)
