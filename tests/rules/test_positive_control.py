"""The positive control: a rule without a backward pass that must learn as backpropagation does."""

from __future__ import annotations

import pytest
from training.small_runs import Run, Setting, correct, make_cohort, train_cohort

from depthgauge.config import NetConfig, Recipe
from depthgauge.tasks.registry import load_task

BLOCKS, NEAR = 4, 0.03


@pytest.fixture(scope="module")
def embedded() -> Setting:
    """The default study's task and network, for a quarter of its epochs."""
    return Setting(load_task("teacher"), NetConfig(width=64, blocks=BLOCKS), Recipe(epochs=5))


def accuracies(rule: str, setting: Setting) -> list[float]:
    """With all blocks trained, and with none."""
    cohort = make_cohort([Run(rule, 42, BLOCKS), Run(rule, 42, 0)], setting)
    right = correct(train_cohort(cohort, setting), setting)
    return [count / len(setting.task.evaluation) for count in right]


@pytest.mark.slow
def test_equilibrium_propagation_uses_depth_as_backpropagation_does(embedded):
    """A nudge that does not suit the stream's size costs accuracy at once, and depth later on."""
    (bp, bp_frozen), (ep, ep_frozen) = (accuracies(rule, embedded) for rule in ("bp", "ep"))
    assert bp - bp_frozen > 0.2
    assert ep > bp - NEAR
    assert abs(ep_frozen - bp_frozen) < NEAR
