"""States: when they are saved, and that training goes on from them as if it had never stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from training.recorded_runs import (
    EPOCHS,
    RECIPE,
    SETTING,
    STEPS_PER_EPOCH,
    InMemory,
    copied,
    exact,
    parameters,
    train,
)
from training.small_runs import Run, ladder, make_cohort

from depthgauge.training.batches import Batches
from depthgauge.training.loop import Epoch, restore, train_cohort
from depthgauge.training.trainee import RunState

# When they are saved


def test_states_are_saved_after_every_step_when_there_is_no_time_between():
    runs = ladder("dfa")
    saved = train(make_cohort(runs, SETTING), save_every=0.0).states
    steps = [divmod(step, STEPS_PER_EPOCH) for step in range(1, EPOCHS * STEPS_PER_EPOCH + 1)]
    assert [[state.position for state in states] for states in saved] == [
        [position] * len(runs) for position in steps
    ]
    assert all(state.moments for states in saved[:-1] for state in states)


def test_the_last_state_is_always_saved_and_needs_no_moments():
    (states,) = train(make_cohort(ladder("dfa"), SETTING)).states
    assert {state.position for state in states} == {(EPOCHS, 0)}
    assert all(state.moments == {} and state.feedback for state in states)


def test_states_are_saved_when_the_time_has_come():
    times = iter(range(0, 1000, 10))  # every look at the clock is ten seconds later
    short = replace(SETTING, recipe=RECIPE.model_copy(update={"epochs": 2}))
    cohort = make_cohort([Run("bp", 1, 1)], short)
    saved = train(cohort, short, save_every=25.0, clock=lambda: next(times)).states
    # Looks at 10, 20, 30 s: saved after the third step, which is one more look; and at the end.
    assert [states[0].position for states in saved] == [(0, 3), (1, 1), (1, 4), (2, 0)]


# Going on


LEARNING = ["state_bridge[hidden=8]", "credit_bridge[hidden=8,copies=2,warm_up=0.3]"]


@pytest.mark.parametrize("rule", LEARNING)
def test_what_a_rule_has_learned_is_saved_as_it_is_then(rule):
    seen: list[list[RunState]] = []
    kept: list[list[RunState]] = []

    class Keeping(InMemory):
        def save(self, states: Sequence[RunState]) -> None:
            kept.append(list(states))
            seen.append([copied(state) for state in states])

    cohort = make_cohort(ladder(rule), SETTING)
    first = [copied(state) for state in Epoch(cohort, 0).states(with_moments=False)]
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
    recorder = train(make_cohort(runs, SETTING), save_every=0.0)
    (state,) = recorder.at(2)
    fresh = make_cohort(runs, SETTING)
    unlearned = {name: tensor.clone() for name, tensor in fresh.feedback[0].items()}
    forgetful = replace(state, feedback=unlearned)
    rest = train(fresh, start=[forgetful])
    assert exact(rest.lines[-1]) != exact(recorder.lines[-1])


def test_going_on_without_the_moments_would_show():
    runs = [Run("bp", 1, 3)]
    recorder = train(make_cohort(runs, SETTING), save_every=0.0)
    (state,) = recorder.at(2)
    zeroed = {name: torch.zeros_like(moment) for name, moment in state.moments.items()}
    forgetful = replace(state, moments=zeroed)
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
    states = train(make_cohort(runs, SETTING), save_every=0.0).at(1, 2)
    before = [copied(state) for state in states]
    again = make_cohort(runs, SETTING)
    batches = Batches(SETTING.task, again.seeds, RECIPE.batch_size)
    epoch = restore(again, states, len(batches))
    assert (epoch.number, epoch.step) == (1, 2)
    train(again, start=states)
    for was, now in zip(before, states, strict=True):
        for part in ("parameters", "feedback", "moments"):
            for name, tensor in getattr(was, part).items():
                assert torch.equal(getattr(now, part)[name], tensor), (part, name)
