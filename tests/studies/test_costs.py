"""Costs are assumed where that is good enough, and tried elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from studies.other_machines import DEEP, costing, long_study, machine, middling
from studies.small_grids import RECIPE, TASK, grid
from training.small_runs import make_task

from depthgauge.config import NetConfig, Recipe, RunConfig
from depthgauge.rules.dfa import DFA
from depthgauge.studies import costs as module
from depthgauge.studies.assumed import (
    CORE_FLOPS,
    FASTER,
    assumed_footprint,
    assumed_pace,
    parameters,
)
from depthgauge.studies.costs import Group, cohort_bytes, costs_of
from depthgauge.studies.footprint import KERNELS, SCATTERED, Footprint, Held
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from depthgauge.studies.partition import partition
from depthgauge.studies.plan import Grid
from depthgauge.studies.room import own_bytes
from depthgauge.training.cohort import initialise

MEASURED = Pace(3.0, 7.0)


def costs(planned: Grid, *, here: bool = True, memory: float = 1e12) -> list[Group]:
    with machine(2, memory), costing(MEASURED, run_bytes=123):
        return costs_of(planned.runs(), Bench(planned.task, "cpu"), [1, 2], 2, here=here)


def test_epochs_samples_weights_and_runs_make_a_study_worth_measuring():
    small = replace(grid("bp", net=DEEP), recipe=Recipe(epochs=3 * 10**5))
    assert not costs(small)[0].timed
    for larger in (
        replace(small, recipe=Recipe(epochs=10**9)),
        replace(small, task=make_task(samples=720_000)),
        replace(small, net=NetConfig(width=512, blocks=4)),
        replace(small, seeds=range(20_000)),
    ):
        (group,) = costs(larger)
        assert group.timed
        assert group.paces[1] == MEASURED
        assert group.footprint.phases[0].frozen == 123


def test_each_group_of_runs_has_costs_of_its_own():
    groups = costs(long_study(("bp", "dfa[wide_block]")))
    assert [len(group.runs) for group in groups] == [15, 6]
    assert all(group.timed for group in groups)


def test_elsewhere_nothing_is_timed():
    assert not costs(long_study(("bp",)), here=False)[0].timed


def test_where_memory_may_be_short_it_is_counted():
    planned = middling(long_study(("bp",)))
    assert costs(planned)[0].footprint == assumed_footprint(DEEP, planned.recipe, TASK)
    (group,) = costs(planned, memory=4e8)
    assert (group.footprint.phases[0].frozen, group.timed) == (123, False)


def test_what_cannot_be_held_is_not_tried():
    planned = replace(long_study(("bp",)), net=NetConfig(width=10**7, blocks=2), ks=[0])
    (group,) = costs(planned)
    assert not group.timed


def test_a_rule_that_fails_is_left_to_training():
    class Fails(DFA):
        name = "fails"

        def credit(self, context):
            raise ZeroDivisionError

    planned = replace(grid(Fails), recipe=Recipe(epochs=10**9))
    with machine(2):
        (group,) = costs_of(planned.runs(), Bench(TASK, "cpu"), [1], 2)
    assert not group.timed
    assert group.footprint == assumed_footprint(planned.net, planned.recipe, TASK)


def test_steps_are_those_of_all_epochs_and_readings_are_some_more():
    (group,) = costs(grid("dfa"))
    assert RECIPE.epochs * 2 < group.steps < RECIPE.epochs * 2 * 5  # 72 samples, 200 that are read


@pytest.mark.parametrize("net", [DEEP, NetConfig(width=6, blocks=0), NetConfig(hidden=3)])
def test_weights_are_those_of_the_networks_matrices(net):
    run = grid("bp", ks=(0,), net=net).runs()[0]
    built, _ = initialise(run.config, TASK, run.choice.build())
    assert parameters(net, TASK) == sum(p.numel() for p in built.parameters() if p.dim() > 1)


def test_assumed_is_a_share_of_a_cores_operations():
    kind = grid("bp", net=DEEP).runs()[0].kind
    one, four = assumed_pace(kind, TASK, 1), assumed_pace(kind, TASK, 4)
    assert one.run == pytest.approx(6 * parameters(DEEP, TASK) * 36 / CORE_FLOPS)
    assert one.step(3) == pytest.approx(5 * one.run)
    assert math.isclose(one.run / four.run, 4**FASTER)


def test_the_memory_of_a_small_cohort_is_assumed_and_its_rule_is_not_asked():
    short, long = partition(grid("bp", seeds=(1,)).runs() + grid("dfa", seeds=(1, 2)).runs())
    with costing(MEASURED, run_bytes=10**9):
        assert own_bytes() + KERNELS < cohort_bytes(short, TASK) < cohort_bytes(long, TASK) < 10**9


def test_the_memory_of_a_large_cohort_is_counted(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    (cohort,) = partition(grid("dfa", seeds=(1, 2)).runs())
    with costing(MEASURED, run_bytes=10**9):
        counted = own_bytes() + KERNELS + SCATTERED * len(cohort.runs) * 10**9
        assert cohort_bytes(cohort, TASK) == pytest.approx(counted)


def test_where_a_rule_cannot_be_tried_the_memory_is_assumed(monkeypatch):
    (cohort,) = partition(grid("dfa", seeds=(1, 2)).runs())
    assumed = cohort_bytes(cohort, TASK)
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(DFA, "credit", lambda *_: 1 / 0)
    assert cohort_bytes(cohort, TASK) == assumed


def test_of_options_that_are_trained_together_those_that_hold_most_count(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    planned = grid("dfa", "dfa[normalise=batch]", "dfa[normalise=none]", seeds=(1,))
    (cohort,) = partition(planned.runs())

    def footprint(_: Bench, config: RunConfig, rule: object) -> Footprint:
        hungry = config.rule.options.get("normalise") == "batch"
        return Footprint((Held(0, 0, 1e9 if hungry else 1e3, 0),))

    monkeypatch.setattr(Bench, "footprint", footprint)
    assert cohort_bytes(cohort, TASK) > len(cohort.runs) * 1e9
    with machine(2, memory=1e12):
        groups = costs_of(planned.runs(), Bench(TASK, "cpu"), [1], 2 * 10**6)
    assert [group.footprint.phases[0].frozen for group in groups] == [1e9]


def test_nobody_waits_until_the_memory_of_huge_networks_is_counted(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 0)
    (cohort,) = partition(grid("dfa", seeds=(1,)).runs())
    monkeypatch.setattr(Bench, "footprint", lambda *_: Footprint((Held(1e12, 0, 0, 0),)))
    assert cohort_bytes(cohort, TASK) > 1e12
    monkeypatch.setattr(module, "TOO_LONG", 0.0)
    assert cohort_bytes(cohort, TASK) < 1e12
