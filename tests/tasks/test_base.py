"""What every task can do: name its content, and be judged on held-out training samples."""

from dataclasses import replace

import pytest
import torch

from depthgauge.errors import UserError
from depthgauge.tasks.base import Pixels, Split, Task, hold_out_validation
from depthgauge.tasks.shape import TaskShape


@pytest.fixture
def task() -> Task:
    """Sample i of the training set is the number i, so that samples can be told apart."""
    train = Split(torch.arange(10.0)[:, None], torch.arange(10) % 3)
    test = Split(torch.arange(100.0, 104.0)[:, None], torch.tensor([0, 1, 1, 2]))
    return Task("small", train, test, num_classes=3)


def test_input_dim_and_chance(task: Task) -> None:
    assert task.input_dim == 1
    assert task.chance == 0.5


def test_held_out_samples_are_the_training_set_divided(task: Task) -> None:
    held = hold_out_validation(task, 4)
    assert (len(held.train), len(held.evaluation)) == (6, 4)
    both = torch.cat([held.train.x, held.evaluation.x]).flatten()
    assert sorted(both.tolist()) == list(range(10))


def test_labels_stay_with_their_samples(task: Task) -> None:
    held = hold_out_validation(task, 4)
    for split in (held.train, held.evaluation):
        assert torch.equal(split.y, split.x.flatten().long() % 3)


def test_the_test_set_is_gone_and_this_is_said(task: Task) -> None:
    held = hold_out_validation(task, 4)
    assert held.evaluated_on == "validation"
    assert float(held.evaluation.x.max()) < 100
    assert (held.name, held.num_classes) == (task.name, task.num_classes)


def test_the_same_samples_are_held_out_every_time(task: Task) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        before = torch.get_rng_state()
        first = hold_out_validation(task, 4)
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(2)
        assert hold_out_validation(task, 4).checksum == first.checksum


@pytest.mark.parametrize("size", [1, 9])
def test_the_extreme_sizes_that_fit(task: Task, size: int) -> None:
    assert len(hold_out_validation(task, size).evaluation) == size


@pytest.mark.parametrize("size", [-1, 0, 10, 11])
def test_sizes_that_do_not_fit(task: Task, size: int) -> None:
    with pytest.raises(UserError, match=rf"--validation {size} .* from 1 to 9$"):
        hold_out_validation(task, size)


@pytest.mark.parametrize("part", ["train", "evaluation"])
@pytest.mark.parametrize("array", ["x", "y"])
def test_the_checksum_sees_every_array(task: Task, part: str, array: str) -> None:
    split = getattr(task, part)
    changed = getattr(split, array).clone()
    changed[-1] += 1
    other = replace(task, **{part: replace(split, **{array: changed})})
    assert other.checksum != task.checksum


def test_the_checksum_is_of_the_content(task: Task) -> None:
    train = Split(task.train.x.clone(), task.train.y.clone())
    assert replace(task, train=train).checksum == task.checksum


def test_pixels_must_be_images() -> None:
    flat = Split(torch.zeros(4, 12, dtype=torch.uint8), torch.arange(4) % 2)
    with pytest.raises(UserError, match=r"pixels of the shape \(3, 2, 2\), but .* shape \(12,\)"):
        Task("flat", flat, flat, 2, Pixels(3, 2, 2, (0.5,) * 3, (0.5,) * 3))


def test_the_shape_of_a_task_tells_what_a_network_must_know() -> None:
    numbers = Split(torch.zeros(4, 1, 2, 3), torch.arange(4) % 2)
    assert Task("numbers", numbers, numbers, 2).shape == TaskShape("numbers", (1, 2, 3), 2)
    tokens = Split(torch.tensor([[0, 4], [1, 2]]), torch.tensor([[0, -100], [1, 1]]))
    task = Task("tokens", tokens, tokens, 2)
    assert task.shape == TaskShape("tokens", (2,), 2, symbols=5, per_position=True)
    assert task.chance == pytest.approx(2 / 3)
    targets = Split(torch.zeros(4, 3), torch.arange(8.0).view(4, 2))
    task = Task("targets", targets, targets, 2, loss="squared_error")
    assert task.shape == TaskShape("targets", (3,), 2)
    assert (task.is_regression, task.chance) == (True, 0.0)


def test_held_out_samples_keep_shape_and_loss() -> None:
    targets = Split(torch.zeros(6, 1, 2, 2), torch.zeros(6, 2))
    task = Task("targets", targets, targets, 2, loss="squared_error")
    held = hold_out_validation(task, 2)
    assert (held.loss, held.shape, held.evaluation.y.shape) == (task.loss, task.shape, (2, 2))
