"""What is trained on a GPU is what is trained on the processor."""

from __future__ import annotations

import pytest
import torch
from training.compare_cohorts import assert_alike
from training.devices import CUDA
from training.recorded_runs import train
from training.small_images import image_task
from training.small_runs import Run, Setting, ladder, make_cohort, train_cohort

from depthgauge.config import Recipe
from depthgauge.store.checkpoint import read_checkpoint, write_checkpoint

RULES = ["bp", "fa", "dfa", "sdfa", "drtp", "ep", "ep[credit=displacement]"]
RULES += ["state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2,warm_up=0.5]"]

RECIPE = Recipe(epochs=2, batch_size=28, learning_rate=5e-3, weight_decay=0.05, dtype="float64")
PUBLISHED = Setting(recipe=RECIPE)
SETTINGS = {
    "penalised": Setting(recipe=RECIPE.model_copy(update={"penalty": 0.1})),
    "random targets": Setting(recipe=RECIPE.model_copy(update={"targets": "random"})),
    "images": Setting(recipe=RECIPE, task=image_task(72)),
}

TOLERANCE = 1e-8

DEVICES = ["cpu", CUDA]


def assert_the_same_on(device: str, runs: list[Run], setting: Setting) -> None:
    here, there = (make_cohort(runs, setting, place) for place in ("cpu", device))
    assert_alike(train_cohort(there, setting), train_cohort(here, setting), TOLERANCE)
    placed = (*there.net.parameters.values(), *there.feedback[0].values())
    assert {own.device.type for own in placed} == {device}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rule", RULES)
def test_a_cohort_learns_the_same(device, rule):
    assert_the_same_on(device, ladder(rule), PUBLISHED)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("rule", ["bp", "dfa"])
def test_it_does_in_any_setting(device, name, rule):
    assert_the_same_on(device, ladder(rule), SETTINGS[name])


@pytest.mark.parametrize("device", DEVICES)
def test_it_does_with_two_sets_of_options(device):
    runs = [*ladder("dfa"), *ladder("dfa[normalise=batch]")]
    assert_the_same_on(device, sorted(runs, key=lambda run: -run.k), PUBLISHED)


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_is_measured(device):
    runs = ladder("dfa")
    here, there = (train(make_cohort(runs, PUBLISHED, one), PUBLISHED) for one in ("cpu", device))
    for mine, theirs in zip(there.lines, here.lines, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("saved_on", DEVICES)
@pytest.mark.parametrize("restored_on", DEVICES)
@pytest.mark.parametrize("rule", ["bp", RULES[-1]])
def test_a_checkpoint_goes_on_anywhere(rule, saved_on, restored_on, tmp_path):
    runs = ladder(rule)
    whole = make_cohort(runs, PUBLISHED)
    train(whole, PUBLISHED)
    saved = train(make_cohort(runs, PUBLISHED, saved_on), PUBLISHED, save_every=0.0).at(1, 2)
    for run, state in enumerate(saved):
        write_checkpoint(tmp_path / f"{run}", state)
    start = [read_checkpoint(tmp_path / f"{run}") for run in range(len(runs))]
    rest = make_cohort(runs, PUBLISHED, restored_on)
    train(rest, PUBLISHED, start=start)
    assert_alike(rest, whole, TOLERANCE)
