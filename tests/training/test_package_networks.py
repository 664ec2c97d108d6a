"""Networks of the package under rules, against hand-written loops with torch's own optimizer."""

from __future__ import annotations

import copy

import pytest
import torch
from oracles.network_loop import NetworkLoop
from rules.example_rules import TrueGradient
from training.small_runs import Run, Setting, batches_of_seed, relative_difference, run_config
from training.small_runs import train_cohort as train

from depthgauge.config import Recipe
from depthgauge.nets.architectures.choice import choose_net
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Split, Task
from depthgauge.training.local.runs import LocalRuns

RECIPE = Recipe(epochs=6, batch_size=4, learning_rate=5e-3, weight_decay=0.05, dtype="float64")
SAMPLES, CLASSES, DEPTH, SEED = 18, 3, 3, 42


def images() -> Task:
    x = torch.randn(SAMPLES, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    split = Split(x, torch.arange(SAMPLES) % CLASSES)
    return Task("images", split, split, CLASSES)


def tokens() -> Task:
    """The label of a token is the token before it; the first has none."""
    x = torch.randint(CLASSES, (SAMPLES, 5), generator=torch.Generator().manual_seed(2))
    y = x.roll(1, 1)
    y[:, 0] = -100
    return Task("tokens", Split(x, y), Split(x, y), CLASSES)


NETWORKS = {
    "vit": ("vit[patch=4,heads=2]", images),
    "vit mean": ("vit[patch=4,heads=2,pool=mean,attention=fused]", images),
    "resnet": ("resnet[stages=2]", images),
    "cnn": ("cnn[hidden=8]", images),
    "gpt": ("gpt[heads=2]", tokens),
}
LOOPED = ("vit", "vit mean", "resnet", "gpt")
"""A hidden layer is not a stream of positions, so the loop by hand of FA has no cnn."""


def setting_of(network: str) -> Setting:
    text, make_task = NETWORKS[network]
    return Setting(make_task(), choose_net(text).config(4, DEPTH), RECIPE)


def assert_ends_where_the_loop_ends(network: str, rule: str | Rule, loop: str, k: int) -> None:
    setting, run = setting_of(network), Run(rule, SEED, k)
    runs = LocalRuns([run_config(run, setting)], [run.build_rule()], setting.task)
    own = runs.runs[0]
    by_hand = NetworkLoop(copy.deepcopy(own.net), loop, own.feedback, k)
    train(runs, setting)
    expected = by_hand.train(
        batches_of_seed(SEED, setting),
        count=RECIPE.epochs,
        rate=RECIPE.learning_rate,
        decay=RECIPE.weight_decay,
    ).state_dict()
    for name, found in runs.tensors()[0].parameters.items():
        assert relative_difference(found, expected[name]) < 1e-8, name


@pytest.mark.parametrize("k", [DEPTH, 1])
@pytest.mark.parametrize("rule", ["bp", "dfa", "fa"])
@pytest.mark.parametrize("network", LOOPED)
def test_thirty_steps_end_where_the_loop_by_hand_ends(network, rule, k):
    assert_ends_where_the_loop_ends(network, rule, rule, k)


@pytest.mark.parametrize("network", NETWORKS)
def test_with_the_true_gradient_as_credit_local_training_is_backpropagation(network):
    assert_ends_where_the_loop_ends(network, TrueGradient(), "bp", DEPTH)
