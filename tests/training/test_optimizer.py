"""The optimizer of a cohort: its learning rate, its steps, and its saved and restored moments."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LRScheduler, MultiStepLR
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
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.training.local.optimizer import RunOptimizer, parts_of
from depthgauge.training.optimizer import moments_of
from depthgauge.training.schedule import learning_rate
from depthgauge.training.stacked_mlp.cohort import Cohort

RULES = ("bp", "fa", "dfa")
STEPS_OF_AN_EPOCH = 5


def test_a_rate_that_falls_in_steps_is_that_of_torch():
    recipe = recipe_with(
        {"epochs": 9, "schedule": "steps", "milestones": (2, 5), "step_factor": 0.3}
    )
    sgd = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=recipe.learning_rate)
    scheduler = MultiStepLR(sgd, [2, 5], gamma=0.3)
    for epoch in range(recipe.epochs):
        assert learning_rate(recipe, epoch) == pytest.approx(scheduler.get_last_lr()[0], rel=1e-12)
        sgd.step()
        scheduler.step()


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


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "adamw": {},
    "adamw, own betas": {"beta1": 0.8, "beta2": 0.95},
    "adam": {"optimizer": "adam"},
    "adam, own betas": {"optimizer": "adam", "beta1": 0.7, "beta2": 0.9},
    "sgd": {"optimizer": "sgd"},
    "sgd, nesterov": {"optimizer": "sgd", "momentum": 0.8, "nesterov": True},
    "sgd, no momentum": {"optimizer": "sgd", "momentum": 0.0},
    "steps": {"schedule": "steps", "milestones": (1, 2), "step_factor": 0.3},
    "constant": {"schedule": "none", "optimizer": "sgd"},
    "parts": {"embedding_rate": 0.5, "blocks_rate": 2.0, "readout_rate": 3.0},
    "parts by sgd": {"optimizer": "sgd", "embedding_rate": 0.1, "readout_rate": 10.0},
}
"""What a recipe may say of its optimizer."""


def recipe_with(options: dict[str, Any], dtype: str = "float64") -> Recipe:
    usual = {"epochs": 3, "learning_rate": 5e-3, "weight_decay": 0.05, "dtype": dtype}
    return Recipe(**usual | options)


def theirs_of(recipe: Recipe, parameters: dict[str, Tensor]) -> torch.optim.Optimizer:
    """torch's own optimizer, with a group of parameters for each part."""
    groups: dict[str, list[Tensor]] = {"embedding": [], "blocks": [], "readout": []}
    for name, own in parameters.items():
        start = name.partition(".")[0]
        groups[{"embed": "embedding", "blocks": "blocks"}.get(start, "readout")].append(own)
    given = [
        {"params": own, "lr": getattr(recipe, f"{part}_rate") * recipe.learning_rate}
        for part, own in groups.items()
        if own
    ]
    decay, betas = recipe.weight_decay, (recipe.beta1, recipe.beta2)
    if recipe.optimizer == "adamw":
        return torch.optim.AdamW(given, weight_decay=decay, betas=betas, fused=True)
    if recipe.optimizer == "adam":
        return torch.optim.Adam(given, weight_decay=decay, betas=betas, fused=True)
    momentum, nesterov = recipe.momentum, recipe.nesterov
    return torch.optim.SGD(given, weight_decay=decay, momentum=momentum, nesterov=nesterov)


def scheduler_of(recipe: Recipe, optimizer: torch.optim.Optimizer) -> LRScheduler:
    if recipe.schedule == "cosine":
        return CosineAnnealingLR(optimizer, T_max=recipe.epochs)
    if recipe.schedule == "steps":
        return MultiStepLR(optimizer, list(recipe.milestones), gamma=recipe.step_factor)
    return ConstantLR(optimizer, factor=1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", OPTIMIZERS)
def test_every_step_is_that_of_torch(options, dtype):
    """Stacked runs, saved and restored after each epoch."""
    recipe = recipe_with(OPTIMIZERS[options], dtype)
    runs, setting = ladder("bp"), Setting(recipe=recipe)
    cohort, generator = make_cohort(runs, setting), torch.Generator().manual_seed(3)
    theirs = {
        name: cohort.net.parameters[name][: len(gradient)].clone()
        for name, gradient in cohort.optimizer.gradients.items()
    }
    optimizer = theirs_of(recipe, theirs)
    scheduler = scheduler_of(recipe, optimizer)
    for epoch in range(recipe.epochs):
        cohort.optimizer.start_epoch(epoch)
        for _ in range(STEPS_OF_AN_EPOCH):
            for name, gradient in cohort.optimizer.gradients.items():
                theirs[name].grad = gradient.normal_(generator=generator).clone()
            cohort.optimizer.step()
            optimizer.step()
        scheduler.step()
        fresh = make_cohort(runs, setting)
        steps = (epoch + 1) * STEPS_OF_AN_EPOCH
        copy_into(fresh, cohort, list(range(len(runs))), steps)
        cohort = fresh
    relative, absolute = (1e-12, 1e-15) if dtype == "float64" else (1e-5, 1e-7)
    same = partial(torch.testing.assert_close, rtol=relative, atol=absolute)
    for run in range(len(runs)):
        moments = cohort.optimizer.moments_of_run(run)
        for name, parameter in cohort.net.state_of_run(run).items():
            if name in theirs and run < cohort.net.trained_runs[name]:
                own = theirs[name]
                same(parameter, cohort.net.of_run(name, own, run))
                for moment in moments_of(recipe):
                    expected = cohort.net.of_run(name, optimizer.state[own][moment], run)
                    found = moments[f"{moment}.{name}"]
                    same(found, expected)


def test_adamw_is_that_of_torch_bit_for_bit():
    recipe = recipe_with({}, "float32")
    cohort = make_cohort(ladder("bp"), Setting(recipe=recipe))
    theirs = {
        name: cohort.net.parameters[name][: len(gradient)].clone()
        for name, gradient in cohort.optimizer.gradients.items()
    }
    adamw = torch.optim.AdamW(theirs.values(), lr=5e-3, weight_decay=0.05, fused=True)
    for name, gradient in cohort.optimizer.gradients.items():
        theirs[name].grad = gradient.normal_().clone()
    cohort.optimizer.start_epoch(0)
    cohort.optimizer.step()
    adamw.step()
    for name, own in cohort.optimizer.parameters.items():
        assert torch.equal(own, theirs[name])


@pytest.mark.parametrize("options", OPTIMIZERS)
def test_the_optimizer_of_one_network_is_that_of_torch(options):
    """A block that gets no gradient in some steps is left alone, also after a restart."""
    recipe, generator = recipe_with(OPTIMIZERS[options]), torch.Generator().manual_seed(3)
    torch.manual_seed(0)
    net = ResidualMLP(6, 8, 3, 2).double()
    other = copy.deepcopy(net)
    theirs = dict(other.named_parameters())
    optimizer = theirs_of(recipe, theirs)
    scheduler = scheduler_of(recipe, optimizer)
    ours = RunOptimizer(net, list(net.blocks), recipe)
    for epoch in range(recipe.epochs):
        ours.start_epoch(epoch)
        for step in range(STEPS_OF_AN_EPOCH):
            ours.zero_grad()
            for name, parameter in net.named_parameters():
                skipped = name.startswith("blocks.1.") and (epoch, step) in [(0, 0), (1, 2)]
                gradient = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                parameter.grad = None if skipped else gradient
                theirs[name].grad = None if skipped else gradient.clone()
            ours.step()
            optimizer.step()
        scheduler.step()
        kept = {name: tensor.clone() for name, tensor in ours.state().items()}
        ours = RunOptimizer(net, list(net.blocks), recipe)
        ours.restore(kept, (epoch + 1) * STEPS_OF_AN_EPOCH)
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(parameter, theirs[name], rtol=1e-12, atol=1e-15)


def test_parts_follow_what_a_probe_has_found():
    """A module between blocks belongs to the blocks, a tied output layer to the embedding."""
    net = nn.ModuleDict({name: nn.Linear(2, 2, bias=False) for name in ("e", "b", "m", "t", "r")})
    owners = {
        "e.weight": ("below the blocks",),
        "m.weight": ("block 0",),
        "t.weight": ("below the blocks", "loss"),
        "r.weight": ("loss",),
    }
    assert parts_of(net, [net["b"]], owners) == {
        "e.weight": "embedding",
        "b.weight": "blocks",
        "m.weight": "blocks",
        "t.weight": "embedding",
        "r.weight": "readout",
    }


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
