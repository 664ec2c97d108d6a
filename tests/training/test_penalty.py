"""The penalty on the branches, against plain autograd."""

from __future__ import annotations

import pytest
import torch
from oracles.penalised import MeanOverFeatures, PenalisedRun, penalty_of
from oracles.plain_loop import PlainRun
from rules.example_rules import TrueGradient
from torch import Tensor
from training.small_runs import (
    BLOCKS,
    WIDTH,
    Run,
    Setting,
    ladder,
    make_cohort,
    relative_difference,
    train_cohort,
    train_plain,
    worst_difference,
)

from depthgauge.config import NetConfig, Recipe
from depthgauge.nets.registry import build_net
from depthgauge.training.batches import Batch, Batches
from depthgauge.training.stacked_mlp.cohort import Cohort

STRENGTH = PenalisedRun.strength
NETS = {
    "reference": NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.3),
    "no skip": NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.3, residual_add=False),
    "no last norm": NetConfig(width=WIDTH, blocks=BLOCKS, w2_std=0.3, terminal_norm=False),
}
LOCAL = [
    "fa",
    "dfa",
    "dfa[normalise=batch]",
    "sdfa",
    "drtp",
    "state_bridge[hidden=8]",
    "credit_bridge[hidden=8,copies=2,warm_up=0]",
    "ep[steps=2]",
]


def setting_of(penalty: float, net: NetConfig = NETS["reference"]) -> Setting:
    recipe = Recipe(
        epochs=3,
        batch_size=16,
        learning_rate=5e-3,
        weight_decay=0.05,
        dtype="float64",
        penalty=penalty,
    )
    return Setting(net=net, recipe=recipe)


def first_batch(cohort: Cohort, setting: Setting) -> Batch:
    return next(Batches(setting.task, cohort.seeds, 16, cohort.dtype).epoch(0))


def first_gradients(rule: str, penalty: float) -> tuple[Cohort, dict[str, Tensor]]:
    """A cohort after one step, and the gradients of that step."""
    setting = setting_of(penalty)
    cohort = make_cohort(ladder(rule), setting)
    cohort.start_epoch(0)
    cohort.step(first_batch(cohort, setting), 0.0)
    return cohort, cohort.optimizer.gradients


def own_penalty_gradients(run: Run, x: Tensor, setting: Setting) -> dict[str, Tensor]:
    """∂/∂θ_l of λ · mean Σ f_l², each block's input detached, by autograd on a single network."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        net = build_net(setting.net, setting.task).double()
    with torch.no_grad():
        states = net.trace(x).states
    for block, state in zip(net.blocks, states[:-1], strict=True):
        (STRENGTH * penalty_of(block(state))).backward()
    return {name: p.grad for name, p in net.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("rule", ["bp", "fa", "dfa"])
def test_training_is_that_of_the_plain_loop(rule, net):
    setting = setting_of(STRENGTH, NETS[net])
    runs = [Run(rule, 42, BLOCKS), Run(rule, 7, 2), Run(rule, 42, 0)]
    cohort = train_cohort(make_cohort(runs, setting), setting)
    for number, run in enumerate(runs):
        assert worst_difference(cohort, number, train_plain(run, setting, PenalisedRun)) < 1e-9


@pytest.mark.parametrize("rule", ["bp", "dfa"])
@pytest.mark.parametrize("wrong", [PlainRun, MeanOverFeatures])
def test_another_penalty_would_show(rule, wrong):
    setting, run = setting_of(STRENGTH), Run(rule, 42, BLOCKS)
    cohort = train_cohort(make_cohort([run], setting), setting)
    assert worst_difference(cohort, 0, train_plain(run, setting, wrong)) > 1e-3


@pytest.mark.parametrize("rule", LOCAL)
def test_a_local_rule_adds_each_blocks_own_penalty_and_nothing_else(rule):
    _, plain = first_gradients(rule, 0.0)
    cohort, penalised = first_gradients(rule, STRENGTH)
    setting = setting_of(STRENGTH)
    batch = first_batch(cohort, setting)
    for number, run in enumerate(ladder(rule)):
        x = batch.inputs[cohort.seeds.index(run.seed)]
        expected = own_penalty_gradients(run, x, setting)
        for name, gradient in penalised.items():
            if number >= len(gradient):
                continue
            added, before = (cohort.net.of_run(name, g[name], number) for g in (penalised, plain))
            if name.startswith("blocks."):
                assert relative_difference(added - before, expected[name]) < 1e-10, name
            else:
                assert torch.equal(added, before), name


def test_end_to_end_the_embedding_feels_the_penalty_and_the_readout_does_not():
    (_, plain), (_, penalised) = (first_gradients("bp", penalty) for penalty in (0.0, STRENGTH))
    for name in ("embed.weight", "embed.bias"):
        assert relative_difference(penalised[name], plain[name]) > 1e-3
    for name in ("out_ln.weight", "out_head.weight", "out_head.bias"):
        assert torch.equal(penalised[name], plain[name])


def test_end_to_end_is_not_block_by_block():
    local = train_cohort(
        make_cohort([Run(TrueGradient(), 42, BLOCKS)], setting_of(STRENGTH)),
        setting_of(STRENGTH),
    )
    bp = train_cohort(make_cohort([Run("bp", 42, BLOCKS)], setting_of(STRENGTH)), setting_of(0))
    ours, theirs = (cohort.net.state_of_run(0)["blocks.0.fc1.weight"] for cohort in (local, bp))
    assert relative_difference(ours, theirs) > 1e-3


@pytest.mark.parametrize("rule", ["bp", "dfa"])
def test_a_penalty_makes_branches_small(rule):
    def size(penalty: float) -> float:
        setting = setting_of(penalty)
        cohort = train_cohort(make_cohort([Run(rule, 42, BLOCKS)], setting), setting)
        trace = cohort.net.forward(first_batch(cohort, setting).inputs)
        return sum(float(branch.square().mean()) for branch in trace.branches)

    assert size(10.0) < 0.5 * size(0.0)


def test_the_loss_that_is_returned_is_the_cross_entropy_alone():
    losses = []
    for penalty in (0.0, STRENGTH):
        setting = setting_of(penalty)
        cohort = make_cohort(ladder("bp"), setting)
        cohort.start_epoch(0)
        losses.append(cohort.step(first_batch(cohort, setting), 0.0))
    assert torch.equal(*losses)
