"""Networks of users in training: credit, frozen blocks, interruptions and divergence."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from training.own_networks import FILES, RECIPE, make_run
from training.recorded_runs import InMemory, exact
from training.small_runs import make_task, relative_difference

from depthgauge.training.batches import Batch, Batches
from depthgauge.training.local.runs import LocalRuns
from depthgauge.training.loop import StoppedEarlyError, train_cohort
from depthgauge.training.readings import EVERY_EPOCH

TASK = make_task()
RULES = ["bp", "fa", "dfa", "ep[steps=1]", "noise"]


def train(runs: LocalRuns, **options) -> InMemory:
    recorder = options.pop("recorder", None) or InMemory()
    given = {"observers": EVERY_EPOCH, "save_every": 1e9, **options}
    train_cohort(runs, TASK, recorder, **given)
    return recorder


def batches() -> Iterator[Batch]:
    made = Batches(TASK, [42], RECIPE.batch_size, torch.float64)
    for epoch in range(RECIPE.epochs):
        yield from made.epoch(epoch)


def is_in_block(name: str, network: str, numbers: range) -> bool:
    path = FILES[network][1]
    return name.startswith(tuple(f"{path}.{number}." for number in numbers))


def copied(runs: LocalRuns) -> dict[str, Tensor]:
    return {name: t.clone() for name, t in runs.tensors()[0].parameters.items()}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("network", FILES)
@pytest.mark.parametrize("k", [0, 2, 3])
def test_frozen_blocks_keep_every_bit_and_the_others_move(network, rule, k, tmp_path):
    runs = make_run(network, tmp_path, rule, k)
    before = copied(runs)
    train(runs)
    for name, after in copied(runs).items():
        frozen = is_in_block(name, network, range(3 - k))
        assert torch.equal(before[name], after) == frozen, name


def test_backpropagation_through_a_network_with_batch_norm_is_the_plain_loop(tmp_path):
    runs = make_run("stages", tmp_path, "bp", 3)
    plain = make_run("stages", tmp_path, "bp", 3).runs[0].net
    optimizer = torch.optim.AdamW(plain.parameters(), lr=5e-3, weight_decay=0.01)
    for number, batch in enumerate(batches()):
        epoch = number // 5
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * 0.5 * (1 + math.cos(math.pi * epoch / RECIPE.epochs))
        optimizer.zero_grad()
        cross_entropy(plain(batch.inputs[0]), batch.labels[0]).backward()
        optimizer.step()
    train(runs)
    for name, ours in runs.runs[0].net.state_dict().items():
        assert relative_difference(ours.double(), plain.state_dict()[name].double()) < 1e-10, name


def test_frozen_statistics_are_the_means_over_the_training_set(tmp_path):
    """0 and 1 would make the frozen block one without a norm."""
    runs = make_run("stages", tmp_path, "dfa", 2)
    net = make_run("stages", tmp_path, "dfa", 3).runs[0].net.train()
    means = []
    net.stages[0].norm.register_forward_pre_hook(
        lambda _, args: means.append(args[0].mean((0, 2, 3)))
    )
    with torch.no_grad():
        for x in torch.split(TASK.train.x.double(), RECIPE.batch_size):
            net(x)
    kept = runs.runs[0].net.stages[0].norm
    assert torch.allclose(kept.running_mean, torch.stack(means).mean(0))
    assert not kept.training
    assert runs.runs[0].net.stages[1].norm.training
    assert torch.equal(runs.runs[0].net.stages[1].norm.running_mean, torch.zeros(4).double())


@pytest.mark.parametrize("network", FILES)
@pytest.mark.parametrize("rule", ["bp", "dfa", "noise"])
def test_a_stop_within_an_epoch_changes_no_bit(network, rule, tmp_path):
    """Dropout draws from the step, statistics of BatchNorm are in the checkpoint."""
    whole = train(make_run(network, tmp_path, rule, 2))
    stopped, steps = InMemory(), iter(range(100))
    with pytest.raises(StoppedEarlyError):
        train(make_run(network, tmp_path, rule, 2), recorder=stopped, stop=lambda: next(steps) == 6)
    assert stopped.states[-1][0].position == (1, 2)
    start = stopped.states[-1]
    rest = train(make_run(network, tmp_path, rule, 2), start=start)
    assert exact(rest.lines) == exact(whole.lines[2:])
    ours, theirs = rest.states[-1][0].parameters, whole.states[-1][0].parameters
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_network_whose_weights_become_infinite_is_marked(tmp_path):
    runs = make_run("tokens", tmp_path, "bp", 3)
    with torch.no_grad():
        next(runs.runs[0].net.parameters())[0, 0] = math.inf
    assert [line["diverged"] for line in train(runs).of_run(0)] == [True] * (RECIPE.epochs + 1)


def test_a_mask_of_infinities_is_no_divergence_but_a_statistic_that_is_no_number_is(tmp_path):
    masked, lost = (make_run("tokens", tmp_path, "bp", 3) for _ in range(2))
    masked.runs[0].net.register_buffer("mask", torch.full((4, 4), -math.inf).triu(1))
    lost.runs[0].net.register_buffer("statistic", torch.tensor(math.nan))
    assert not any(line["diverged"] for line in train(masked).of_run(0))
    assert all(math.isfinite(h) for h in train(masked).of_run(0)[-1]["h_norm"])
    assert all(line["diverged"] for line in train(lost).of_run(0))


def test_training_leaves_the_global_random_state_alone(tmp_path):
    runs = make_run("tokens", tmp_path, "dfa", 3)
    before = torch.get_rng_state()
    train(runs)
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_differs_between_steps(tmp_path):
    runs = make_run("tokens", tmp_path, "dfa", 0)
    seen: list[Tensor] = []
    dropout = next(m for m in runs.runs[0].net.modules() if isinstance(m, nn.Dropout))
    dropout.register_forward_hook(lambda module, _, out: seen.append(out == 0))
    runs.start_epoch(0)
    batch = next(batches())
    for _ in range(2):
        runs.step(batch, 0.0)
    assert not torch.equal(seen[0], seen[1])
    again = make_run("tokens", tmp_path, "dfa", 0)
    dropout = next(m for m in again.runs[0].net.modules() if isinstance(m, nn.Dropout))
    dropout.register_forward_hook(lambda module, _, out: seen.append(out == 0))
    again.start_epoch(0)
    again.step(batch, 0.0)
    assert torch.equal(seen[0], seen[2])
