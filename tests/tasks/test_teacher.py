"""The embedded task: reproducible, balanced, and out of reach for anything shallow."""

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn.functional import cross_entropy

from depthgauge.tasks.base import Task
from depthgauge.tasks.teacher import load_teacher

BLOCKS, WIDTH = 4, 64
CHECKSUM = "8e65964047093994f6e2e8c9c670ed0fd9ba2513cfa56ae81f13813d37833bcd"


def block() -> nn.Sequential:
    second = nn.Linear(WIDTH, WIDTH)
    nn.init.normal_(second.weight, std=0.01)
    nn.init.zeros_(second.bias)
    return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU(), second)


def bp_accuracy(task: Task, trained_blocks: int, seed: int, epochs: int) -> float:
    """Backpropagation with the last blocks trained and the others frozen."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        embed = nn.Linear(task.input_dim, WIDTH)
        blocks = nn.ModuleList(block() for _ in range(BLOCKS))
        readout = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, task.num_classes))

    def forward(x: torch.Tensor) -> torch.Tensor:
        h = embed(x)
        for branch in blocks:
            h = h + branch(h)
        return readout(h)

    trained = [embed, readout, *blocks[BLOCKS - trained_blocks :]]
    blocks[: BLOCKS - trained_blocks].requires_grad_(False)
    parameters = [p for module in trained for p in module.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    shuffle = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for batch in torch.randperm(len(task.train), generator=shuffle).split(128):
            optimizer.zero_grad()
            cross_entropy(forward(task.train.x[batch]), task.train.y[batch]).backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        hits = forward(task.evaluation.x).argmax(1) == task.evaluation.y
    return float(hits.double().mean())


def linear_accuracy(task: Task) -> float:
    model = LogisticRegression(max_iter=500).fit(task.train.x.numpy(), task.train.y.numpy())
    return float(model.score(task.evaluation.x.numpy(), task.evaluation.y.numpy()))


@pytest.fixture(scope="module")
def task() -> Task:
    return load_teacher()


@pytest.fixture(autouse=True)
def _one_core():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_shapes_and_types(task: Task) -> None:
    assert (len(task.train), len(task.evaluation)) == (8000, 4000)
    assert (task.name, task.num_classes, task.input_dim) == ("teacher", 10, 3)
    assert task.pixels is None
    for split in (task.train, task.evaluation):
        assert split.x.dtype == torch.float32
        assert split.y.dtype == torch.int64


def test_it_is_the_same_task_every_time_and_everywhere(task: Task) -> None:
    assert load_teacher().checksum == task.checksum == CHECKSUM


def test_the_global_random_state_is_neither_used_nor_changed(task: Task) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(7)
        before = torch.get_rng_state()
        assert load_teacher().checksum == task.checksum
        assert torch.equal(torch.get_rng_state(), before)


def test_inputs_have_zero_mean_and_unit_variance(task: Task) -> None:
    torch.testing.assert_close(task.train.x.mean(0), torch.zeros(3), atol=0.05, rtol=0)
    torch.testing.assert_close(task.train.x.var(0), torch.ones(3), atol=0.05, rtol=0)


def test_no_class_is_rare(task: Task) -> None:
    for split in (task.train, task.evaluation):
        shares = torch.bincount(split.y, minlength=10) / len(split)
        assert shares.min() > 0.07
        assert shares.max() < 0.13


def test_no_test_input_occurs_in_training(task: Task) -> None:
    training = set(map(tuple, task.train.x.tolist()))
    assert training.isdisjoint(map(tuple, task.evaluation.x.tolist()))


def test_depth_is_needed(task: Task) -> None:
    full = bp_accuracy(task, trained_blocks=4, seed=42, epochs=6)
    assert full - linear_accuracy(task) > 0.15
    assert full - bp_accuracy(task, trained_blocks=0, seed=42, epochs=6) > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("seed", [42, 123, 456])
def test_every_further_block_helps(task: Task, seed: int) -> None:
    ladder = [bp_accuracy(task, k, seed, epochs=20) for k in range(BLOCKS + 1)]
    assert ladder == sorted(ladder)
    assert ladder[4] - ladder[1] > 0.10
    assert ladder[4] - max(ladder[0], linear_accuracy(task)) > 0.15
