"""The batches of an epoch: complete, and a function of the seed and the epoch alone."""

from __future__ import annotations

import pytest
import torch
from oracles.plain_crops import all_crops
from training.small_images import PIXELS, random_images

from depthgauge.losses.labels import IGNORED
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import as_inputs, evaluation_inputs, normalise_pixels
from depthgauge.training.batches import Batch, Batches

SAMPLES = 53


@pytest.fixture
def numbered() -> Task:
    """Sample i is (i, −i) with label i mod 5: every sample can be recognised."""
    number = torch.arange(SAMPLES, dtype=torch.float32)
    split = Split(torch.stack([number, -number], 1), torch.arange(SAMPLES) % 5)
    return Task("numbered", split, Split(split.x[:7], split.y[:7]), 5)


@pytest.fixture
def images() -> Task:
    x, y = random_images(SAMPLES), torch.arange(SAMPLES) % 10
    return Task("images", Split(x, y), Split(x[:7], y[:7]), 10, PIXELS)


def epoch_of(task: Task, seeds: list[int], number: int, batch_size: int = 16) -> list[Batch]:
    return list(Batches(task, seeds, batch_size).epoch(number))


def order_of(task: Task, seed: int, epoch: int) -> list[int]:
    return torch.cat([batch.inputs[0] for batch in epoch_of(task, [seed], epoch)])[:, 0].tolist()


@pytest.mark.parametrize(
    ("batch_size", "sizes"), [(16, [16, 16, 16, 5]), (53, [53]), (100, [53]), (1, [1] * 53)]
)
def test_every_sample_comes_once_and_the_last_batch_may_be_short(numbered, batch_size, sizes):
    batches = Batches(numbered, [42, 7], batch_size)
    made = list(batches.epoch(0))
    assert len(batches) == len(made)
    assert [len(batch.inputs[0]) for batch in made] == sizes
    for seed in range(2):
        seen = torch.cat([batch.inputs[seed] for batch in made])
        assert sorted(seen[:, 0].tolist()) == list(range(SAMPLES))
        assert torch.equal(seen[:, 1], -seen[:, 0])
        labels = torch.cat([batch.labels[seed] for batch in made])
        assert torch.equal(labels, seen[:, 0].long() % 5)


@pytest.mark.parametrize("kind", ["numbered", "images"])
def test_a_seed_sees_the_same_batches_whatever_other_seeds_there_are(kind, request):
    task = request.getfixturevalue(kind)
    alone, together = epoch_of(task, [7], 3), epoch_of(task, [3, 7, 42], 3)
    for one, three in zip(alone, together, strict=True):
        assert torch.equal(one.inputs[0], three.inputs[1])
        assert torch.equal(one.labels[0], three.labels[1])


@pytest.mark.parametrize("kind", ["numbered", "images"])
def test_an_epoch_does_not_depend_on_the_epochs_before(kind, request):
    task = request.getfixturevalue(kind)
    batches = Batches(task, [42], 16)
    for number in (0, 1, 2):
        went_through = list(batches.epoch(number))
    again = list(batches.epoch(2))
    fresh = epoch_of(task, [42], 2)
    for one, two, three in zip(went_through, again, fresh, strict=True):
        assert torch.equal(one.inputs[0], two.inputs[0])
        assert torch.equal(one.inputs[0], three.inputs[0])


@pytest.mark.parametrize("kind", ["numbered", "images"])
@pytest.mark.parametrize("targets", ["true", "random"])
def test_an_epoch_can_be_entered_at_any_batch(kind, targets, request):
    batches = Batches(request.getfixturevalue(kind), [42, 7], 16, targets=targets)
    whole = list(batches.epoch(2))
    for first in range(len(whole) + 1):
        rest = list(batches.epoch(2, first))
        assert len(rest) == len(whole) - first
        for one, other in zip(rest, whole[first:], strict=True):
            assert torch.equal(one.labels, other.labels)
            assert all(map(torch.equal, one.inputs, other.inputs))


def test_epochs_and_seeds_are_shuffled_differently(numbered):
    orders = [order_of(numbered, seed, epoch) for seed in (42, 7) for epoch in (0, 1)]
    assert list(range(SAMPLES)) not in orders
    assert len({tuple(order) for order in orders}) == 4


def test_images_are_augmented_then_normalised(images):
    crops = [
        torch.tensor(sorted(all_crops(image, PIXELS)), dtype=torch.uint8).view(-1, 3, 6, 5)
        for image in images.train.x[:3]
    ]
    seen = torch.cat([batch.inputs[0] for batch in epoch_of(images, [42], 0)])
    assert seen.dtype == torch.float32
    for possible in crops:
        normalised = normalise_pixels(possible, PIXELS, torch.float32)
        assert any((normalised == image).flatten(1).all(1).any() for image in seen)


def test_images_are_augmented_differently_in_each_epoch(images):
    epochs = [torch.cat([b.inputs[0] for b in epoch_of(images, [42], n)]) for n in (0, 1)]
    rows = [{tuple(row) for row in epoch.flatten(1).tolist()} for epoch in epochs]
    assert len(rows[0] & rows[1]) < SAMPLES // 4


def test_making_batches_leaves_the_global_random_state_alone(images):
    before = torch.get_rng_state()
    epoch_of(images, [42, 7], 0)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_inputs_have_the_chosen_type(numbered, images, dtype):
    assert as_inputs(numbered.train.x, numbered, dtype).dtype == dtype
    assert as_inputs(images.train.x, images, dtype).dtype == dtype
    batch = next(Batches(images, [1], 4, dtype).epoch(0))
    assert batch.inputs[0].dtype == dtype


def test_the_evaluation_split_is_normalised_but_not_augmented(images):
    held = evaluation_inputs(images, torch.float64)
    assert torch.equal(held.x, normalise_pixels(images.evaluation.x, PIXELS, torch.float64))
    assert torch.equal(held.y, images.evaluation.y)


@pytest.fixture
def tokens() -> Task:
    """The label of a token is the token itself, except for the first token, which has none."""
    x = torch.arange(SAMPLES * 3).view(SAMPLES, 3) % 7
    y = x.clone()
    y[:, 0] = IGNORED
    return Task("tokens", Split(x, y), Split(x, y), 7)


@pytest.fixture
def targets() -> Task:
    x = torch.arange(SAMPLES, dtype=torch.float32)[:, None]
    return Task("targets", Split(x, x.repeat(1, 2)), Split(x, x.repeat(1, 2)), 2)


def test_tokens_and_their_labels_stay_together(tokens):
    for batch in epoch_of(tokens, [42, 7], 0):
        assert batch.labels.shape == (2, len(batch.inputs[0]), 3)
        for seed in range(2):
            assert batch.inputs[seed].dtype == torch.int64
            assert torch.equal(batch.inputs[seed][:, 1:], batch.labels[seed][:, 1:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_real_targets_have_the_type_of_the_inputs(targets, dtype):
    for batch in Batches(targets, [42, 7], 16, dtype).epoch(0):
        assert batch.labels.dtype == dtype
        for seed in range(2):
            assert torch.equal(batch.labels[seed], batch.inputs[seed].repeat(1, 2))
    assert evaluation_inputs(targets, dtype).y.dtype == dtype


def test_random_classes_of_tokens_keep_the_labels_that_do_not_count(tokens):
    batches = Batches(tokens, [42, 7], SAMPLES, targets="random")
    (one,), (other,) = batches.epoch(0), batches.epoch(1)
    for batch in (one, other):
        assert bool((batch.labels[..., 0] == IGNORED).all())
        assert set(batch.labels[..., 1:].flatten().tolist()) == set(range(7))
    assert not torch.equal(one.labels, other.labels)


def test_random_targets_are_those_of_other_samples(targets):
    (batch,) = Batches(targets, [42, 7], SAMPLES, targets="random").epoch(0)
    assert batch.labels.shape == (2, SAMPLES, 2)
    assert set(batch.labels.flatten().tolist()) <= set(range(SAMPLES))
    assert float((batch.labels[0] == batch.inputs[0]).double().mean()) < 0.2
