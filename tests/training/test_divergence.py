"""Runs that diverge: marked, and of no consequence to the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import pytest
import torch
from training.recorded_runs import EPOCHS, SETTING, exact, parameters, train
from training.small_runs import BLOCKS, Run, ladder, make_cohort

from depthgauge.rules.contract import Context, Credit
from depthgauge.rules.dfa import DFA
from depthgauge.training.stacked_mlp.cohort import Cohort


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
    recorder = train(poisoned_cohort(runs, {1: math.nan}), save_every=0.0)
    rest = train(poisoned_cohort(runs, {}), start=recorder.at(3))
    assert exact(rest.lines) == exact(recorder.lines[4:])
    assert rest.lines[-1][1]["diverged"]
