"""Training that is stopped after any step goes on as if nothing had happened, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from store.small_runs_on_disk import state_bits
from training.recorded_runs import InMemory, exact, train
from training.small_runs import make_cohort
from training.stopped_runs import (
    CASES,
    RECIPE,
    STEPS,
    STEPS_PER_EPOCH,
    positions,
    stopped,
    undisturbed,
)

from depthgauge.training.loop import StoppedEarlyError
from depthgauge.training.trainee import RunState

CASE = CASES["credit bridge"]
LAST = (RECIPE.epochs, 0)


def assert_same(found: InMemory, expected: InMemory) -> None:
    """The same metrics, each line once, and the same last states."""
    assert exact(found.lines) == exact(expected.lines)
    assert [state_bits(own) for own in found.states[-1]] == [
        state_bits(own) for own in expected.states[-1]
    ]


def trained(**options: Any) -> InMemory:
    return train(make_cohort(CASE.runs, CASE.setting), CASE.setting, **options)


# The same bits


@pytest.mark.parametrize("name", CASES)
def test_training_that_is_stopped_after_every_step_ends_the_same(name):
    found = stopped(CASES[name], range(1, STEPS))
    assert len(found.states) == STEPS
    assert_same(found, undisturbed(name))


QUICK = ("bp", "credit bridge")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES],
)
def test_training_that_is_stopped_once_ends_the_same(name):
    for step in range(1, STEPS):
        found = stopped(CASES[name], {step})
        assert positions(found.states) == [divmod(step, STEPS_PER_EPOCH), LAST]
        assert_same(found, undisturbed(name))


@pytest.mark.parametrize("name", ["bp", "state bridge", "several options that draw noise"])
def test_saving_after_every_step_changes_nothing(name):
    case = CASES[name]
    found = train(make_cohort(case.runs, case.setting), case.setting, save_every=0.0)
    steps = [divmod(step, STEPS_PER_EPOCH) for step in range(1, STEPS + 1)]
    assert positions(found.states) == steps
    assert_same(found, undisturbed(name))


def test_a_state_is_the_same_whether_training_was_stopped_there_or_not():
    there, passed = stopped(CASE, range(1, STEPS)).states, trained(save_every=0.0).states
    for one, other in zip(there, passed, strict=True):
        assert [state_bits(own) for own in one] == [state_bits(own) for own in other]


# What a state inside an epoch must have


def without_moments(state: RunState) -> RunState:
    zeros = {name: torch.zeros_like(tensor) for name, tensor in state.moments.items()}
    return replace(state, moments=zeros)


FORGETTING: dict[str, Callable[[RunState], RunState]] = {
    "step": lambda state: replace(state, step=0),
    "loss": lambda state: replace(state, loss=0.0),
    "noise": lambda state: replace(state, noise=None),
    "moments": without_moments,
}


@pytest.mark.parametrize("forget", FORGETTING.values(), ids=FORGETTING)
def test_going_on_without_it_would_show(forget):
    states = trained(save_every=0.0).at(1, 1)
    expected = exact(undisturbed("credit bridge").lines[-1])
    assert exact(trained(start=states).lines[-1]) == expected
    assert exact(trained(start=[forget(own) for own in states]).lines[-1]) != expected


def test_noise_is_saved_inside_an_epoch_alone_and_by_rules_that_draw_it():
    for name, draws in (("credit bridge", True), ("dfa", False)):
        case = CASES[name]
        saved = train(make_cohort(case.runs, case.setting), case.setting, save_every=0.0).states
        for states in saved:
            has_noise = {state.noise is not None for state in states}
            assert has_noise == {draws and states[0].step > 0}


def test_the_loss_so_far_is_saved_inside_an_epoch_alone():
    for states in trained(save_every=0.0).states:
        assert all((state.loss > 0) == (state.step > 0) for state in states)


# Stopping


class Eventful(InMemory):
    """Writes down what happens, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[str] = []

    def record_epoch(self, lines: Sequence[dict[str, Any]]) -> None:
        super().record_epoch(lines)
        self.events.append(f"epoch {lines[0]['epoch']}")

    def save(self, states: Sequence[RunState]) -> None:
        super().save(states)
        self.events.append(f"saved {states[0].position}")


def events_when_stopped_after(step: int) -> list[str]:
    recorder = Eventful()
    asked = iter(range(1, STEPS + 1))

    def stop() -> bool:
        number = next(asked)
        recorder.events.append(f"asked after {number}")
        return number == step

    try:
        trained(recorder=recorder, save_every=1e9, stop=stop)
    except StoppedEarlyError:
        recorder.events.append("stopped")
    return recorder.events


def test_inside_an_epoch_the_states_are_saved_and_then_it_stops():
    assert events_when_stopped_after(2) == [
        "epoch 0",
        "asked after 1",
        "asked after 2",
        "saved (0, 2)",
        "stopped",
    ]


def test_on_the_last_step_of_an_epoch_its_metrics_are_recorded_first():
    assert events_when_stopped_after(3)[-4:] == [
        "asked after 3",
        "epoch 1",
        "saved (1, 0)",
        "stopped",
    ]


def test_on_the_very_last_step_there_is_nothing_to_stop():
    assert events_when_stopped_after(STEPS)[-3:] == ["asked after 6", "epoch 2", "saved (2, 0)"]
    recorder = stopped(CASE, {STEPS})
    assert all(state.moments == {} for state in recorder.states[-1])
    assert_same(recorder, undisturbed("credit bridge"))


def test_what_could_not_be_saved_is_not_said_to_be():
    class Full(InMemory):
        def save(self, states: Sequence[RunState]) -> None:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        trained(recorder=Full(), stop=lambda: True)


def test_steps_are_counted_from_where_training_goes_on():
    start = trained(save_every=0.0).at(1, 1)
    steps: list[int] = []
    trained(start=start, on_step=steps.append)
    assert steps == [1] * (STEPS - STEPS_PER_EPOCH - 1)


def test_nobody_is_asked_to_stop_where_nothing_is_left_to_do():
    finished = undisturbed("credit bridge").states[-1]
    rest = trained(start=finished, stop=lambda: pytest.fail("asked"))
    assert rest.lines == rest.states == []
