"""The optimizer of a cohort: its learning rate, its steps, and its saved and restored moments."""

from __future__ import annotations

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR
from training.small_runs import (
    Run,
    Setting,
    ladder,
    make_cohort,
    relative_difference,
    snapshot,
    train_cohort,
)

from depthgauge.config import Recipe
from depthgauge.training.optimizer import MOMENTS
from depthgauge.training.schedule import learning_rate
from depthgauge.training.stacked_mlp.cohort import Cohort

RULES = ("bp", "fa", "dfa")
STEPS_OF_AN_EPOCH = 5


@pytest.mark.parametrize("epochs", [1, 2, 7, 100])
def test_the_learning_rate_is_that_of_cosine_annealing(epochs):
    recipe = Recipe(epochs=epochs, learning_rate=3e-3)
    adamw = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=3e-3)
    scheduler = CosineAnnealingLR(adamw, T_max=epochs)
    for epoch in range(epochs):
        assert learning_rate(recipe, epoch) == pytest.approx(scheduler.get_last_lr()[0], rel=1e-9)
        adamw.step()
        scheduler.step()
    assert learning_rate(recipe, 0) == 3e-3
    assert learning_rate(recipe, epochs) == pytest.approx(0, abs=1e-15)


def test_starting_an_epoch_sets_the_rate_that_is_used():
    setting = Setting(recipe=Recipe(epochs=6, batch_size=16, weight_decay=0))
    cohort = make_cohort([Run("bp", 42, 0)], setting)
    start = snapshot(cohort, 0)["embed.weight"]
    cohort.optimizer.gradients["embed.weight"].fill_(1.0)
    cohort.optimizer.start_epoch(4)
    cohort.optimizer.step()
    moved = start - cohort.net.state_of_run(0)["embed.weight"]
    assert torch.allclose(
        moved, torch.full_like(moved, learning_rate(setting.recipe, 4)), rtol=1e-3
    )


def copy_into(fresh: Cohort, source: Cohort, runs: list[int], steps: int) -> None:
    """Parameters and moments of the source's runs, as a checkpoint would carry them."""
    for number, run in enumerate(runs):
        for name, parameter in fresh.net.state_of_run(number).items():
            parameter.copy_(source.net.state_of_run(run)[name])
    kept = [source.optimizer.moments_of_run(run) for run in runs]
    fresh.optimizer.restore_runs([{n: m.clone() for n, m in own.items()} for own in kept], steps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_step_is_that_of_torch_bit_for_bit(dtype):
    recipe = Recipe(epochs=3, learning_rate=5e-3, weight_decay=0.05, dtype=dtype)
    runs, setting = ladder("bp"), Setting(recipe=recipe)
    cohort, generator = make_cohort(runs, setting), torch.Generator().manual_seed(3)
    theirs = {
        name: cohort.net.parameters[name][: len(gradient)].clone()
        for name, gradient in cohort.optimizer.gradients.items()
    }
    adamw = torch.optim.AdamW(theirs.values(), lr=1.0, weight_decay=0.05, fused=True)
    for epoch in range(recipe.epochs):
        cohort.optimizer.start_epoch(epoch)
        adamw.param_groups[0]["lr"] = learning_rate(recipe, epoch)
        for _ in range(STEPS_OF_AN_EPOCH):
            for name, gradient in cohort.optimizer.gradients.items():
                theirs[name].grad = gradient.normal_(generator=generator).clone()
            cohort.optimizer.step()
            adamw.step()
        fresh = make_cohort(runs, setting)
        steps = (epoch + 1) * STEPS_OF_AN_EPOCH
        copy_into(fresh, cohort, list(range(len(runs))), steps)
        cohort = fresh
    for run in range(len(runs)):
        moments = cohort.optimizer.moments_of_run(run)
        for name, parameter in cohort.net.state_of_run(run).items():
            if f"exp_avg.{name}" in moments:
                own = theirs[name]
                assert torch.equal(parameter, cohort.net.of_run(name, own, run))
                for moment in MOMENTS["adamw"]:
                    expected = cohort.net.of_run(name, adamw.state[own][moment], run)
                    assert torch.equal(moments[f"{moment}.{name}"], expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
def test_five_steps_and_five_more_are_ten_bit_for_bit(rule, dtype):
    setting = Setting(recipe=Recipe(epochs=2, batch_size=16, dtype=dtype))
    runs = ladder(rule)
    straight = train_cohort(make_cohort(runs, setting), setting)
    first = train_cohort(make_cohort(runs, setting), setting, epochs=1)
    second = make_cohort(runs, setting)
    copy_into(second, first, list(range(len(runs))), STEPS_OF_AN_EPOCH)
    train_cohort(second, setting, first_epoch=1)
    for run in range(len(runs)):
        expected = straight.net.state_of_run(run)
        for name, parameter in second.net.state_of_run(run).items():
            assert torch.equal(parameter, expected[name]), (run, name)
        expected = straight.optimizer.moments_of_run(run)
        moments = second.optimizer.moments_of_run(run)
        assert moments.keys() == expected.keys()
        for name, moment in moments.items():
            assert torch.equal(moment, expected[name]), (run, name)


def test_a_run_can_go_on_in_another_cohort():
    setting, runs = Setting(recipe=Recipe(epochs=2, batch_size=16, dtype="float64")), ladder("fa")
    straight = train_cohort(make_cohort(runs, setting), setting)
    first = train_cohort(make_cohort(runs, setting), setting, epochs=1)
    moved = [0, 3, 5, 6]
    second = make_cohort([runs[run] for run in moved], setting)
    copy_into(second, first, moved, STEPS_OF_AN_EPOCH)
    train_cohort(second, setting, first_epoch=1)
    for number, run in enumerate(moved):
        expected = straight.net.state_of_run(run)
        for name, parameter in second.net.state_of_run(number).items():
            assert relative_difference(parameter, expected[name]) < 1e-10, (run, name)


@pytest.mark.parametrize("forgotten", ["moments", "steps"])
def test_what_is_not_restored_is_missed(forgotten):
    setting, runs = Setting(recipe=Recipe(epochs=2, batch_size=16)), [Run("bp", 42, 3)]
    straight = train_cohort(make_cohort(runs, setting), setting)
    first = train_cohort(make_cohort(runs, setting), setting, epochs=1)
    if forgotten == "moments":
        for moment in first.optimizer.moments_of_run(0).values():
            moment.zero_()
    second = make_cohort(runs, setting)
    copy_into(second, first, [0], 0 if forgotten == "steps" else STEPS_OF_AN_EPOCH)
    train_cohort(second, setting, first_epoch=1)
    name = "out_head.weight"
    found = second.net.state_of_run(0)[name]
    assert relative_difference(found, straight.net.state_of_run(0)[name]) > 1e-3
