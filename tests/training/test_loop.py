"""The training loop: what it records and what it reads, against a slow oracle."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from oracles.readings import read
from torch.nn.functional import cross_entropy
from training.recorded_runs import EPOCHS, SETTING, STEPS_PER_EPOCH, train
from training.small_runs import BLOCKS, Run, Setting, ladder, make_cohort, make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.nets.registry import initial_net
from depthgauge.tasks.base import Split
from depthgauge.training.readings import read_accuracy, read_norms
from depthgauge.training.trainee import Trainee

# What is recorded


def test_one_line_for_each_run_and_epoch_from_0_to_the_last():
    runs = ladder("dfa")
    recorder = train(make_cohort(runs, SETTING))
    assert len(recorder.lines) == EPOCHS + 1
    for epoch, lines in enumerate(recorder.lines):
        assert len(lines) == len(runs)
        for line in lines:
            assert set(line) == {
                "epoch",
                "train_loss",
                "accuracy",
                "h_norm",
                "g_norm",
                "g_over_e",
                "diverged",
            }
            assert line["epoch"] == epoch
            assert (line["train_loss"] is None) == (epoch == 0)
            assert len(line["h_norm"]) == len(line["g_norm"]) == BLOCKS + 1
            assert line["diverged"] is False


def test_training_changes_what_is_read():
    lines = train(make_cohort([Run("bp", 42, BLOCKS)], SETTING)).of_run(0)
    assert lines[-1]["train_loss"] < lines[1]["train_loss"]
    assert lines[-1]["accuracy"] > lines[0]["accuracy"]
    assert lines[-1]["h_norm"] != lines[0]["h_norm"]


def test_the_training_loss_is_the_mean_over_samples_not_over_batches():
    """Without learning it is the loss of the initial network, though the last batch is short."""
    recipe = Recipe(epochs=1, batch_size=16, learning_rate=1e-300, dtype="float64")
    setting = Setting(recipe=recipe)
    runs = [Run("dfa", 42, 3), Run("dfa", 7, 0)]
    recorder = train(make_cohort(runs, setting), setting)
    for run, line in zip(runs, recorder.lines[1], strict=True):
        net = initial_net(setting.net, setting.task, run.seed).double()
        samples = setting.task.train
        expected = cross_entropy(net(samples.x.double()), samples.y).item()
        assert line["train_loss"] == pytest.approx(expected, rel=1e-12)


def test_progress_is_counted_step_by_step():
    steps: list[int] = []
    train(make_cohort([Run("bp", 1, 1)], SETTING), on_step=steps.append)
    assert steps == [1] * (EPOCHS * STEPS_PER_EPOCH)


def test_an_observer_of_ones_own_sees_every_epoch_of_every_run():
    seen = []

    def observe(cohort: Trainee, split: Split) -> list[dict[str, Any]]:
        seen.append(len(split))
        return [{"mine": run} for run in range(len(cohort.configs))]

    recorder = train(make_cohort(ladder("dfa"), SETTING), observers=[observe])
    assert seen == [200] * (EPOCHS + 1)
    assert [line["mine"] for line in recorder.lines[2]] == list(range(len(ladder("dfa"))))
    assert "accuracy" not in recorder.lines[2][0]


# What is read, against a slow oracle

NETS = {
    "reference": NetConfig(width=8, blocks=2),
    "strong branches": NetConfig(width=8, blocks=2, w2_std=0.5),
    "no skip": NetConfig(width=8, blocks=2, residual_add=False, w2_std=0.5),
    "no terminal norm": NetConfig(width=8, blocks=2, terminal_norm=False),
    "shallow": NetConfig(width=8, blocks=0),
}


@pytest.mark.parametrize("net", NETS.values(), ids=NETS)
def test_readings_equal_a_loop_over_samples_with_plain_autograd(net):
    recipe = Recipe(epochs=2, batch_size=16, learning_rate=0.02, dtype="float64")
    setting = Setting(net=net, recipe=recipe)
    runs = [Run("dfa", seed, k) for k in sorted({net.blocks, 0}, reverse=True) for seed in (3, 9)]
    cohort = make_cohort(runs, setting)
    observers = [
        partial(read_accuracy, chunk=64),
        partial(read_norms, batches=3, batch_size=8),
    ]
    lines = train(cohort, setting, observers=observers).lines[-1]
    held = setting.task.evaluation
    for number, line in enumerate(lines):
        alone = initial_net(net, setting.task, seed=0).double()
        alone.load_state_dict(cohort.net.state_of_run(number))
        expected = read(alone, held.x.double(), held.y, read_for_norms=24)
        assert line["accuracy"] == expected["accuracy"]
        for name in ("h_norm", "g_norm", "g_over_e"):
            assert line[name] == pytest.approx(expected[name], rel=1e-9), (number, name)


def test_the_norms_do_not_depend_on_how_samples_are_batched():
    def norms(batch_size: int, batches: int) -> dict[str, Any]:
        observer = partial(read_norms, batches=batches, batch_size=batch_size)
        setting = replace(SETTING, recipe=Recipe(epochs=1, dtype="float64"))
        cohort = make_cohort([Run("bp", 5, 1)], setting)
        return train(cohort, setting, observers=[observer]).of_run(0)[0]

    whole = norms(120, 1)
    for batch, batches in ((60, 2), (8, 15)):
        apart = norms(batch, batches)
        assert apart["g_norm"] == pytest.approx(whole["g_norm"], rel=1e-12)
        assert apart["h_norm"] == pytest.approx(whole["h_norm"], rel=1e-12)
    assert norms(60, 1)["g_norm"] != pytest.approx(whole["g_norm"], rel=1e-6)


def test_an_evaluation_split_smaller_than_what_is_read():
    task = make_task()
    few = replace(task, evaluation=Split(task.evaluation.x[:3], task.evaluation.y[:3]))
    setting = replace(SETTING, task=few)
    (line,) = train(make_cohort([Run("bp", 5, 1)], setting), setting).lines[-1]
    assert line["accuracy"] in (0, 1 / 3, 2 / 3, 1)
