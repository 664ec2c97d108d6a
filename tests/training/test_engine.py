"""The training loop: what it records, what it reads, how it goes on, and what divergence does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, ClassVar

import pytest
import torch
from oracles.readings import read
from torch.nn.functional import cross_entropy
from training.small_runs import BLOCKS, Run, Setting, ladder, make_cohort, make_task

from depthgauge.config import NetConfig, Recipe
from depthgauge.gauges import cohort as evaluation
from depthgauge.nets.registry import initial_net
from depthgauge.nets.stacked import StackedResidualMLP
from depthgauge.rules.contract import Context, Credit
from depthgauge.rules.dfa import DFA
from depthgauge.studies.runner import EVERY_EPOCH
from depthgauge.tasks.base import Split
from depthgauge.training.batches import Batches
from depthgauge.training.cohort import Cohort
from depthgauge.training.engine import RunState, restore, run_states, train_cohort

EPOCHS = 4
RECIPE = Recipe(epochs=EPOCHS, batch_size=16, learning_rate=5e-3, dtype="float32")
SETTING = Setting(recipe=RECIPE)
STEPS_PER_EPOCH = 5  # 72 samples in batches of 16


class InMemory:
    """A recorder that keeps everything; states are views of what trains on, so they are copied."""

    def __init__(self) -> None:
        self.lines: list[list[dict[str, Any]]] = []
        self.states: list[list[RunState]] = []

    def record_epoch(self, lines: Sequence[dict[str, Any]]) -> None:
        self.lines.append(list(lines))

    def save(self, states: Sequence[RunState]) -> None:
        self.states.append([copied(state) for state in states])

    def of_run(self, run: int) -> list[dict[str, Any]]:
        return [lines[run] for lines in self.lines]


def copied(state: RunState) -> RunState:
    parts = (state.parameters, state.feedback, state.moments)
    return RunState(state.epoch, *({n: t.clone() for n, t in part.items()} for part in parts))


def train(cohort: Cohort, setting: Setting = SETTING, **options: Any) -> InMemory:
    recorder = InMemory()
    train_cohort(
        cohort, setting.task, recorder, **{"save_every": 0.0, "observers": EVERY_EPOCH, **options}
    )
    return recorder


def parameters(cohort: Cohort, run: int) -> dict[str, bytes]:
    return {n: p.numpy().tobytes() for n, p in cohort.net.state_of_run(run).items()}


def exact(line: dict[str, Any]) -> str:
    """A line as text: NaN equals NaN, and every digit counts."""
    return repr(line)


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

    def observe(net: StackedResidualMLP, split: Split) -> list[dict[str, Any]]:
        seen.append(len(split))
        return [{"mine": run} for run in range(net.num_runs)]

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


def test_norms_are_read_on_the_first_ten_batches_of_128():
    assert (evaluation.BATCHES_READ, evaluation.BATCH_READ) == (10, 128)


@pytest.mark.parametrize("net", NETS.values(), ids=NETS)
def test_readings_equal_a_loop_over_samples_with_plain_autograd(monkeypatch, net):
    monkeypatch.setattr(evaluation, "BATCH_READ", 8)
    monkeypatch.setattr(evaluation, "BATCHES_READ", 3)
    monkeypatch.setattr(evaluation, "CHUNK", 64)
    recipe = Recipe(epochs=2, batch_size=16, learning_rate=0.02, dtype="float64")
    setting = Setting(net=net, recipe=recipe)
    runs = [Run("dfa", seed, k) for k in sorted({net.blocks, 0}, reverse=True) for seed in (3, 9)]
    cohort = make_cohort(runs, setting)
    lines = train(cohort, setting).lines[-1]
    held = setting.task.evaluation
    for number, line in enumerate(lines):
        alone = initial_net(net, setting.task, seed=0).double()
        alone.load_state_dict(cohort.net.state_of_run(number))
        expected = read(alone, held.x.double(), held.y, read_for_norms=24)
        assert line["accuracy"] == expected["accuracy"]
        for name in ("h_norm", "g_norm", "g_over_e"):
            assert line[name] == pytest.approx(expected[name], rel=1e-9), (number, name)


def test_the_norms_do_not_depend_on_how_samples_are_batched(monkeypatch):
    def norms(batch: int, batches: int) -> dict[str, Any]:
        monkeypatch.setattr(evaluation, "BATCH_READ", batch)
        monkeypatch.setattr(evaluation, "BATCHES_READ", batches)
        setting = replace(SETTING, recipe=Recipe(epochs=1, dtype="float64"))
        return train(make_cohort([Run("bp", 5, 1)], setting), setting).of_run(0)[0]

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


# Checkpoints and going on


def test_states_are_saved_after_every_epoch_when_there_is_no_time_between():
    saved = train(make_cohort(ladder("dfa"), SETTING)).states
    assert [[state.epoch for state in states] for states in saved] == [
        [epoch] * len(ladder("dfa")) for epoch in range(1, EPOCHS + 1)
    ]
    assert all(state.moments for states in saved[:-1] for state in states)


def test_the_last_state_is_always_saved_and_needs_no_moments():
    (states,) = train(make_cohort(ladder("dfa"), SETTING), save_every=1e9).states
    assert {state.epoch for state in states} == {EPOCHS}
    assert all(state.moments == {} and state.feedback for state in states)


def test_states_are_saved_when_the_time_has_come(monkeypatch):
    clock = iter(range(0, 1000, 10))  # every look at the clock is ten seconds later
    monkeypatch.setattr("depthgauge.training.engine.time.monotonic", lambda: next(clock))
    long = replace(SETTING, recipe=RECIPE.model_copy(update={"epochs": 9}))
    saved = train(make_cohort([Run("bp", 1, 1)], long), long, save_every=25.0).states
    # Looks at 10, 20, 30 s: saved after epoch 3, which is one more look; and the last epoch.
    assert [states[0].epoch for states in saved] == [3, 6, 9]


LEARNING = ["state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2,warm_up=0.3]"]
RESUMED = [*product(["bp", "fa", "dfa"], ["float32", "float64"])]
RESUMED += [(rule, "float32") for rule in [*LEARNING, "ep[steps=2]"]]


@pytest.mark.parametrize(("rule", "dtype"), RESUMED)
def test_going_on_from_any_epoch_gives_the_same_bits(rule, dtype):
    setting = replace(SETTING, recipe=RECIPE.model_copy(update={"dtype": dtype}))
    runs = ladder(rule)
    whole = make_cohort(runs, setting)
    recorder = train(whole, setting)
    for done in range(1, EPOCHS):
        again = make_cohort(runs, setting)
        for own in again.feedback:
            for tensor in own.values():
                tensor.zero_()  # must come from the state, not from the seed
        steps: list[int] = []
        rest = train(again, setting, start=recorder.states[done - 1], on_step=steps.append)
        assert exact(rest.lines) == exact(recorder.lines[done + 1 :])
        assert len(steps) == (EPOCHS - done) * STEPS_PER_EPOCH
        for run in range(len(runs)):
            assert parameters(again, run) == parameters(whole, run)
        for before, after in zip(recorder.states[-1], rest.states[-1], strict=True):
            for name, tensor in before.feedback.items():
                assert torch.equal(after.feedback[name], tensor)


@pytest.mark.parametrize("rule", LEARNING)
def test_what_a_rule_has_learned_is_saved_as_it_is_then(rule):
    seen: list[list[RunState]] = []
    kept: list[list[RunState]] = []

    class Keeping(InMemory):
        def save(self, states: Sequence[RunState]) -> None:
            kept.append(list(states))
            seen.append([copied(state) for state in states])

    cohort = make_cohort(ladder(rule), SETTING)
    first = [copied(state) for state in run_states(cohort, 0, with_moments=False)]
    train_cohort(cohort, SETTING.task, Keeping(), observers=[], save_every=0.0)
    for run, own in enumerate(cohort.feedback):
        learned = [name for name in own if name != "B"]
        for name in learned:
            epochs = [first[run], *(states[run] for states in kept)]
            tensors = [state.feedback[name] for state in epochs]
            assert all(not torch.equal(a, b) for a, b in pairwise(tensors)), name
            assert torch.equal(tensors[-1], own[name])
            for then, now in zip(seen, kept, strict=True):
                assert torch.equal(then[run].feedback[name], now[run].feedback[name])


@pytest.mark.parametrize("rule", LEARNING)
def test_going_on_without_what_was_learned_would_show(rule):
    runs = [Run(rule, 1, 3)]
    recorder = train(make_cohort(runs, SETTING))
    (state,) = recorder.states[1]
    fresh = make_cohort(runs, SETTING)
    unlearned = {name: tensor.clone() for name, tensor in fresh.feedback[0].items()}
    forgetful = RunState(state.epoch, state.parameters, unlearned, state.moments)
    rest = train(fresh, start=[forgetful])
    assert exact(rest.lines[-1]) != exact(recorder.lines[-1])


def test_going_on_without_the_moments_would_show():
    runs = [Run("bp", 1, 3)]
    recorder = train(make_cohort(runs, SETTING))
    (state,) = recorder.states[1]
    zeroed = {name: torch.zeros_like(moment) for name, moment in state.moments.items()}
    forgetful = RunState(state.epoch, state.parameters, state.feedback, zeroed)
    rest = train(make_cohort(runs, SETTING), start=[forgetful])
    assert exact(rest.lines[-1]) != exact(recorder.lines[-1])


def test_nothing_is_left_to_do_after_the_last_epoch():
    runs = ladder("dfa")
    whole = make_cohort(runs, SETTING)
    recorder = train(whole)
    again = make_cohort(runs, SETTING)
    rest = train(again, start=recorder.states[-1], on_step=lambda _: pytest.fail("trained"))
    assert rest.lines == rest.states == []
    assert [parameters(again, run) for run in range(len(runs))] == [
        parameters(whole, run) for run in range(len(runs))
    ]


def test_restoring_leaves_the_states_themselves_alone():
    runs = ladder("dfa")
    states = train(make_cohort(runs, SETTING)).states[0]
    before = [copied(state) for state in states]
    again = make_cohort(runs, SETTING)
    batches = Batches(SETTING.task, again.seeds, RECIPE.batch_size)
    assert restore(again, states, len(batches)) == 1
    train(again, start=states)
    for was, now in zip(before, states, strict=True):
        for part in ("parameters", "feedback", "moments"):
            for name, tensor in getattr(was, part).items():
                assert torch.equal(getattr(now, part)[name], tensor), (part, name)


# Divergence


class Poisoned(DFA):
    """DFA whose credit is spoilt in the second half of training, in runs that have the poison."""

    name = "poisoned"
    begins: ClassVar[float] = 0.5

    def feedback(self, net, generator):
        return super().feedback(net, generator) | {"poison": torch.zeros(1)}

    def credit(self, context: Context) -> Credit:
        credit = super().credit(context)
        if context.progress < self.begins:
            return credit
        poison = context.feedback["poison"]
        return Credit([block + poison for block in credit.blocks], credit.embed + poison)


def poisoned_cohort(runs: Sequence[Run], poisoned: dict[int, float]) -> Cohort:
    cohort = make_cohort(runs, SETTING)
    for run, poison in poisoned.items():
        cohort.feedback[run]["poison"].fill_(poison)
    return cohort


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_a_diverged_run_is_marked_and_the_others_do_not_notice(poison):
    runs = ladder(Poisoned())
    lost = 3
    healthy_cohort = poisoned_cohort(runs, {})
    healthy = train(healthy_cohort)
    cohort = poisoned_cohort(runs, {lost: poison})
    recorder = train(cohort)
    for run in range(len(runs)):
        if run == lost:
            marks = [line["diverged"] for line in recorder.of_run(run)]
            assert marks == [False, False, False, True, True]
            assert exact(recorder.of_run(run)[:3]) == exact(healthy.of_run(run)[:3])
        else:
            assert exact(recorder.of_run(run)) == exact(healthy.of_run(run)), run
            assert parameters(cohort, run) == parameters(healthy_cohort, run)


def test_a_run_that_starts_with_infinite_weights_is_marked_in_epoch_0():
    runs = ladder("bp")
    healthy = train(make_cohort(runs, SETTING))
    cohort = make_cohort(runs, SETTING)
    cohort.net.state_of_run(2)["out_head.weight"][0, 0] = math.inf
    recorder = train(cohort)
    assert [line["diverged"] for line in recorder.of_run(2)] == [True] * (EPOCHS + 1)
    for run in set(range(len(runs))) - {2}:
        assert exact(recorder.of_run(run)) == exact(healthy.of_run(run))


class PoisonedAtLast(Poisoned):
    """Spoilt in the very last step, after which no loss is computed any more."""

    begins = 0.94


def test_weights_that_are_not_finite_count_even_where_every_loss_was():
    runs = [Run(PoisonedAtLast(), seed, BLOCKS) for seed in (1, 2)]
    recorder = train(poisoned_cohort(runs, {1: math.nan}))
    last = recorder.of_run(1)[-1]
    assert math.isfinite(last["train_loss"])
    assert [line["diverged"] for line in recorder.of_run(1)] == [False] * EPOCHS + [True]
    assert not any(line["diverged"] for line in recorder.of_run(0))


def test_a_diverged_run_goes_on_after_an_interruption_like_the_others():
    runs = ladder(Poisoned())
    recorder = train(poisoned_cohort(runs, {1: math.nan}))
    rest = train(poisoned_cohort(runs, {}), start=recorder.states[2])
    assert exact(rest.lines) == exact(recorder.lines[4:])
    assert rest.lines[-1][1]["diverged"]
