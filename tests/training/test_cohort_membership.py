"""A run does not depend on the other runs of its cohort, and frozen blocks stay as they were."""

from __future__ import annotations

import math

import pytest
import torch
from training.small_runs import (
    BLOCKS,
    Run,
    Setting,
    correct,
    ladder,
    make_cohort,
    relative_difference,
    snapshot,
    train_cohort,
)

from depthgauge.config import Recipe

RULES = ("bp", "fa", "dfa")


def mixed(rule: str) -> list[Run]:
    """Different seeds, k and (for rules that have them) options."""
    varied = rule if rule == "bp" else f"{rule}[normalise=batch]"
    return [
        Run(rule, 42, 3),
        Run(varied, 7, 3),
        Run(rule, 7, 2),
        Run(varied, 42, 1),
        Run(rule, 99, 1),
        Run(rule, 42, 0),
    ]


@pytest.mark.parametrize("rule", RULES)
def test_alone_or_with_others(rule):
    setting, runs = Setting(), mixed(rule)
    together = train_cohort(make_cohort(runs, setting), setting)
    for number, run in enumerate(runs):
        alone = train_cohort(make_cohort([run], setting), setting)
        expected = alone.net.state_of_run(0)
        for name, ours in together.net.state_of_run(number).items():
            assert relative_difference(ours, expected[name]) < 1e-10, (run, name)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_alone_or_with_others_in_float32(rule):
    setting, runs = Setting(recipe=Recipe(epochs=6, batch_size=16, learning_rate=5e-3)), mixed(rule)
    together = correct(train_cohort(make_cohort(runs, setting), setting), setting)
    for number, run in enumerate(runs):
        (alone,) = correct(train_cohort(make_cohort([run], setting), setting), setting)
        assert abs(together[number] - alone) <= 2, run


def test_different_runs_do_differ():
    setting, runs = Setting(), mixed("dfa")
    cohort = train_cohort(make_cohort(runs, setting), setting)
    heads = [cohort.net.state_of_run(run)["out_head.weight"] for run in range(len(runs))]
    for number, head in enumerate(heads):
        for other in heads[:number]:
            assert relative_difference(head, other) > 1e-3


@pytest.mark.parametrize("rule", RULES)
def test_the_same_cohort_twice_is_the_same_bit_for_bit(rule):
    setting = Setting(recipe=Recipe(epochs=3, batch_size=16))
    first = train_cohort(make_cohort(mixed(rule), setting), setting)
    torch.rand(3)
    second = train_cohort(make_cohort(mixed(rule), setting), setting)
    for name, parameter in first.net.parameters.items():
        assert torch.equal(parameter, second.net.parameters[name]), name


def test_training_leaves_the_global_random_state_alone():
    setting = Setting()
    before = torch.get_rng_state()
    train_cohort(make_cohort(mixed("fa"), setting), setting)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    "broken", [{0: math.nan, 3: math.inf}, {2: -math.inf, 5: math.nan}], ids=str
)
@pytest.mark.parametrize("rule", RULES)
def test_runs_that_break_down_leave_the_others_bit_for_bit_alone(rule, broken):
    setting, runs = Setting(recipe=Recipe(epochs=2, batch_size=16)), mixed(rule)

    def break_down(cohort, step):
        if step == 3:
            for run, poison in broken.items():
                for parameter in cohort.net.state_of_run(run).values():
                    parameter.fill_(poison)

    healthy = train_cohort(make_cohort(runs, setting), setting)
    cohort = train_cohort(make_cohort(runs, setting), setting, after_step=break_down)
    for run in range(len(runs)):
        expected = healthy.net.state_of_run(run)
        for name, parameter in cohort.net.state_of_run(run).items():
            if run in broken:
                assert not parameter.isfinite().any(), name
            else:
                assert torch.equal(parameter, expected[name]), (run, name)


@pytest.mark.parametrize("rule", RULES)
def test_frozen_blocks_keep_every_bit(rule):
    setting, runs = Setting(recipe=Recipe(epochs=2, batch_size=16, weight_decay=0.5)), ladder(rule)
    cohort = make_cohort(runs, setting)
    before = [snapshot(cohort, run) for run in range(len(runs))]
    train_cohort(cohort, setting)
    for number, run in enumerate(runs):
        for name, parameter in cohort.net.state_of_run(number).items():
            frozen = name.startswith("blocks.") and int(name.split(".")[1]) < BLOCKS - run.k
            assert torch.equal(parameter, before[number][name]) == frozen, (run, name)


@pytest.mark.parametrize("rule", RULES)
def test_frozen_blocks_have_no_gradient_buffer_and_no_moments(rule):
    setting = Setting()
    runs = [Run(rule, 42, 2), Run(rule, 7, 1), Run(rule, 42, 1), Run(rule, 7, 0)]
    cohort = train_cohort(make_cohort(runs, setting), setting, epochs=1)
    trained = {0: 0, 1: 1, 2: 3}
    gradients = cohort.optimizer.gradients
    for name, parameter in cohort.net.parameters.items():
        in_block = name.startswith("blocks.")
        expected = trained[int(name.split(".")[1])] if in_block else len(runs)
        assert cohort.net.trained_runs[name] == expected
        if expected:
            assert gradients[name].shape == (expected, *parameter.shape[1:])
        else:
            assert name not in gradients
    for number, run in enumerate(runs):
        moments = cohort.optimizer.moments_of_run(number)
        of_blocks = {int(name.split(".")[2]) for name in moments if ".blocks." in name}
        assert of_blocks == set(range(BLOCKS - run.k, BLOCKS))
        assert {"exp_avg.embed.weight", "exp_avg_sq.out_head.bias"} <= moments.keys()
    storages = {
        moment.untyped_storage().data_ptr(): moment.untyped_storage().nbytes()
        for run in range(len(runs))
        for moment in cohort.optimizer.moments_of_run(run).values()
    }
    assert sum(storages.values()) == 2 * sum(gradient.nbytes for gradient in gradients.values())


def test_runs_must_be_sorted_by_k_largest_first():
    with pytest.raises(ValueError, match="largest first"):
        make_cohort([Run("bp", 42, 0), Run("bp", 42, 1)], Setting())
