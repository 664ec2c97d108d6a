"""Random targets: fresh uniform classes in every batch, so that there is nothing to learn."""

from __future__ import annotations

import pytest
import torch
from rules.example_rules import OneByOneDFA
from torch import Tensor
from training.recorded_runs import train
from training.small_images import PIXELS, random_images
from training.small_runs import CLASSES, Run, Setting, ladder, make_cohort, make_task

from depthgauge.config import Recipe
from depthgauge.rules.contract import Context, Credit
from depthgauge.tasks.base import Split, Task
from depthgauge.training.batches import Batches

SAMPLES = 640
TASK = make_task(SAMPLES)


def labels_of(
    seed: int, epoch: int, *, others: tuple[int, ...] = (), batch_size: int = 16
) -> Tensor:
    """All labels of an epoch, in the order in which they come."""
    seeds = sorted({seed, *others})
    batches = Batches(TASK, seeds, batch_size, targets="random").epoch(epoch)
    return torch.cat([batch.labels[seeds.index(seed)] for batch in batches])


def test_every_batch_and_every_epoch_has_labels_of_its_own():
    batches = Batches(TASK, [1], 64, targets="random")
    labels = [batch.labels[0] for number in range(5) for batch in batches.epoch(number)]
    assert len({tuple(own.tolist()) for own in labels}) == len(labels) == 50


def test_a_sample_is_called_something_else_each_time():
    """A fixed relabelling could be learned by heart; this cannot."""
    called: dict[tuple[float, ...], set[int]] = {}
    for epoch in range(12):
        for batch in Batches(TASK, [3], 64, targets="random").epoch(epoch):
            for x, label in zip(batch.inputs[0].tolist(), batch.labels[0].tolist(), strict=True):
                called.setdefault(tuple(x), set()).add(label)
    assert len(called) == SAMPLES
    assert min(map(len, called.values())) >= 2
    assert sum(map(len, called.values())) / SAMPLES > 0.8 * CLASSES


def test_classes_are_uniform_and_know_nothing_of_the_true_ones():
    random, true = [], []
    for epoch in range(10):
        pair = (Batches(TASK, [5], 64, targets=kind).epoch(epoch) for kind in ("random", "true"))
        for drawn, real in zip(*pair, strict=True):
            assert torch.equal(drawn.inputs[0], real.inputs[0])
            random.append(drawn.labels[0])
            true.append(real.labels[0])
    counts = torch.bincount(torch.cat(random), minlength=CLASSES)
    assert len(counts) == CLASSES
    assert (counts / counts.sum()).tolist() == pytest.approx([1 / CLASSES] * CLASSES, abs=0.02)
    agreement = (torch.cat(random) == torch.cat(true)).double().mean().item()
    assert agreement == pytest.approx(1 / CLASSES, abs=0.02)


def test_labels_are_a_function_of_the_seed_and_the_epoch_alone():
    for epoch in (0, 3):
        alone = labels_of(7, epoch)
        assert torch.equal(labels_of(7, epoch, others=(1, 42)), alone)
        assert torch.equal(labels_of(7, epoch, batch_size=100), alone)
    assert not torch.equal(labels_of(7, 0), labels_of(7, 3))
    assert not torch.equal(labels_of(7, 0), labels_of(8, 0))


def test_the_order_of_the_samples_and_their_crops_are_those_of_true_targets():
    x, y = random_images(20), torch.arange(20) % 10
    images = Task("images", Split(x, y), Split(x[:5], y[:5]), 10, PIXELS)
    for true, random in zip(
        Batches(images, [1, 2], 8).epoch(2),
        Batches(images, [1, 2], 8, targets="random").epoch(2),
        strict=True,
    ):
        for ours, theirs in zip(random.inputs, true.inputs, strict=True):
            assert torch.equal(ours, theirs)
        assert random.labels.shape == true.labels.shape
        assert random.labels.dtype == true.labels.dtype


def test_the_true_labels_and_the_global_random_state_are_left_alone():
    before, state = TASK.train.y.clone(), torch.get_rng_state()
    labels_of(1, 0)
    assert torch.equal(TASK.train.y, before)
    assert torch.equal(torch.get_rng_state(), state)


def trained(targets: str, runs: list[Run]) -> list[dict[str, object]]:
    """Return the last epoch's line of every run."""
    recipe = Recipe(epochs=4, batch_size=32, learning_rate=0.01, targets=targets)
    setting = Setting(TASK, recipe=recipe)
    return train(make_cohort(runs, setting), setting).lines[-1]


def test_the_engine_trains_on_what_the_recipe_says():
    (random,), (true,) = (trained(kind, [Run("bp", 1, 3)]) for kind in ("random", "true"))
    assert random["train_loss"] > 0.95 * torch.tensor(CLASSES).log()
    assert true["train_loss"] < 0.7 * torch.tensor(CLASSES).log()
    assert random["accuracy"] < true["accuracy"] - 0.2


class Watching(OneByOneDFA):
    """DFA that is asked for one run after the other, and writes down each run's labels."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: list[tuple[int, ...]] = []

    def credit(self, context: Context) -> Credit:
        self.labels.append(tuple(context.target.tolist()))
        return super().credit(context)


def test_runs_of_one_seed_are_given_the_same_labels():
    rule = Watching()
    runs = ladder(rule, seeds=(42, 7))
    trained("random", runs)
    assert len(rule.labels) == len(runs) * 4 * SAMPLES // 32
    for first in range(0, len(rule.labels), len(runs)):
        of_runs = rule.labels[first : first + len(runs)]
        given = {(run.seed, own) for run, own in zip(runs, of_runs, strict=True)}
        assert len(given) == len(dict(given)) == 2
        assert len(set(dict(given).values())) == 2
