"""The stacked path does what the general one does: every rule, every k, with every option."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from training.compare_cohorts import assert_alike
from training.small_runs import Setting, ladder, make_cohort, make_task, run_config, train_cohort

from depthgauge.config import NetConfig, Recipe
from depthgauge.training.local.runs import LocalRuns

RULES = [
    "bp",
    "fa",
    "dfa",
    "sdfa",
    "drtp",
    "noise",
    "state_bridge[hidden=8]",
    "credit_bridge[hidden=8]",
]
RULES += ["ep", "ep[credit=displacement]", "dfa[normalise=batch]", "fa[normalise=none]"]

RECIPE = Recipe(epochs=2, batch_size=32, learning_rate=5e-3, weight_decay=0.05, dtype="float64")
SETTINGS = {
    "as published": Setting(recipe=RECIPE),
    "penalised": Setting(recipe=RECIPE.model_copy(update={"penalty": 0.1})),
    "without skip connections": Setting(
        recipe=RECIPE, net=NetConfig(width=16, blocks=3, residual_add=False, w2_std=0.2)
    ),
    "without the last norm": Setting(
        recipe=RECIPE, net=NetConfig(width=16, blocks=3, terminal_norm=False, hidden=24)
    ),
    "without blocks": Setting(
        recipe=RECIPE.model_copy(update={"penalty": 0.1}), net=NetConfig(width=16, blocks=0)
    ),
}


def both(rule: str, setting: Setting):
    runs = ladder(rule, blocks=setting.net.blocks)
    configs = [run_config(run, setting) for run in runs]
    plain = LocalRuns(configs, [run.build_rule() for run in runs], setting.task)
    return train_cohort(make_cohort(runs, setting), setting), train_cohort(plain, setting)


OFTEN = {"as published"}
"""Settings that are tried with every rule every time; the others with two."""


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        pytest.param(
            rule,
            name,
            marks=() if name in OFTEN or rule in ("bp", "dfa") else pytest.mark.slow,
        )
        for rule in RULES
        for name in SETTINGS
    ],
)
def test_it_learns_what_the_plain_engine_learns(rule, name):
    fast, plain = both(rule, SETTINGS[name])
    assert_alike(fast, plain, 1e-8)


@pytest.mark.parametrize("rule", ["bp", "dfa", "credit_bridge[hidden=8]"])
def test_the_networks_have_moved(rule):
    """Or the comparison would be of nothing."""
    setting = SETTINGS["as published"]
    fast, _ = both(rule, setting)
    fresh = make_cohort(ladder(rule), setting)
    moved = [
        (fast.net.state_of_run(0)[name] - first).abs().max()
        for name, first in fresh.net.state_of_run(0).items()
    ]
    assert min(moved) > 1e-3


def test_frozen_blocks_stay_as_they_were():
    setting = SETTINGS["as published"]
    _, plain = both("dfa", setting)
    fresh = make_cohort(ladder("dfa"), setting)
    for run, (config, own) in enumerate(zip(plain.configs, plain.tensors(), strict=True)):
        for name, now in own.parameters.items():
            frozen = name.startswith("blocks.") and int(name.split(".")[1]) < 3 - config.k
            assert torch.equal(now, fresh.net.state_of_run(run)[name]) == frozen


@pytest.mark.parametrize("rule", ["bp", "fa", "dfa"])
def test_the_losses_are_those_of_the_plain_engine(rule):
    setting = replace(SETTINGS["penalised"], task=make_task(samples=40))
    seen = {}
    for kind in ("fast", "plain"):
        runs = ladder(rule)
        configs = [run_config(run, setting) for run in runs]
        rules = [run.build_rule() for run in runs]
        cohort = make_cohort(runs, setting)
        if kind == "plain":
            cohort = LocalRuns(configs, rules, setting.task)
        seen[kind] = losses = []
        step = cohort.step
        cohort.step = lambda batch, at, step=step, to=losses: to.append(step(batch, at))
        train_cohort(cohort, setting)
    torch.testing.assert_close(torch.stack(seen["fast"]), torch.stack(seen["plain"]))
