"""From runs to cohorts: which are trained together, planned once and never twice."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduling.small_grids import RECIPE, TASK, grid, plan, study_of, train_without_claims
from store.small_runs_on_disk import contents

from depthgauge.config import Intervention, NetConfig
from depthgauge.scheduling.cohorts import (
    LARGEST,
    cohorts_left,
    even_parts,
    partition,
    plan_runs,
)
from depthgauge.scheduling.grid import Grid, RunList
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.study_folder import StudyFolder

Place = tuple[str, int, int]


WITH_TWINS = ((2, ()), (2, (0,)), (1, ()), (1, (1,)), (0, ()))
"""Which blocks are on noise at each k: a ladder of two blocks and its twins."""


def swapped(*blocks: int) -> Intervention:
    return Intervention(swapped=blocks)


class Killed(BaseException):
    """Stands for a kill."""


def places(cohort: CohortPlan) -> list[Place]:
    return [(config.rule.label, config.seed, config.k) for config in cohort.configs]


def labels(cohorts: Sequence[CohortPlan]) -> list[set[str]]:
    return [{label for label, _, _ in places(cohort)} for cohort in cohorts]


def planned_runs(planned: Grid) -> list[Place]:
    configs = [run.config for run in planned.runs()]
    return [(config.rule.label, config.seed, config.k) for config in configs]


# Which runs are trained together


def test_one_rule_with_three_seeds_and_five_rungs_is_one_cohort():
    deep = NetConfig(width=4, blocks=4)
    (cohort,) = partition(grid("dfa", ks=range(5), seeds=(42, 123, 456), net=deep).runs())
    assert places(cohort) == [("dfa", s, k) for k in (4, 3, 2, 1, 0) for s in (42, 123, 456)]


def test_rules_are_trained_apart():
    assert labels(partition(grid("fa", "bp", "dfa").runs())) == [{"fa"}, {"bp"}, {"dfa"}]


def test_the_same_rule_with_other_options_is_trained_together():
    runs = grid("dfa", "dfa[normalise=batch]", ks=(0, 2), seeds=(1, 2)).runs()
    (cohort,) = partition(runs)
    assert len(cohort.runs) == 8
    assert [k for _, _, k in places(cohort)] == [2] * 4 + [0] * 4
    typed = {rule.typed for rule in cohort.rules}
    assert typed == {"dfa", "dfa[normalise=batch]"}


def test_whole_seeds_come_first():
    """21 runs are 11 and 10: no seed but the one in the middle is divided."""
    first, second = partition(grid("bp", ks=(0, 1, 2), seeds=range(7)).runs())
    assert [len(places(cohort)) for cohort in (first, second)] == [11, 10]
    assert {seed for _, seed, _ in places(first)} == {0, 1, 2, 3}
    assert {seed for _, seed, _ in places(second)} == {3, 4, 5, 6}


def test_cohorts_are_as_small_as_is_asked_for():
    runs = grid("bp", "dfa", ks=(0, 1), seeds=(1, 2, 3)).runs()
    assert [len(cohort.runs) for cohort in partition(runs, 4)] == [3] * 4
    assert [len(cohort.runs) for cohort in partition(runs, 1)] == [1] * 12


@given(groups=st.lists(st.integers(1, 200), max_size=6), size=st.integers(1, 20))
def test_parts_are_as_few_and_as_equal_as_can_be(groups, size):
    parts = iter(even_parts(groups, size))
    for group in groups:
        own = list(islice(parts, math.ceil(group / size)))
        assert sum(own) == group
        assert 1 <= min(own) <= max(own) <= size
        assert max(own) - min(own) <= 1
    assert list(parts) == []


def test_runs_with_another_recipe_or_network_are_trained_apart():
    planned = grid("dfa", "dfa[penalty=0.01]", "dfa[no_norm]", "dfa[normalise=batch]")
    assert labels(partition(planned.runs())) == [
        {"dfa", "dfa[normalise=batch]"},
        {"dfa[penalty=0.01]"},
        {"dfa[no_norm]"},
    ]


def test_runs_that_stand_elsewhere_in_training_are_trained_apart():
    runs = grid("dfa", ks=(0, 1), seeds=(1, 2, 3)).runs()
    where = {1: (2, 1), 2: (2, 0), 3: (2, 1)}
    cohorts = partition(runs, position_of=lambda run: where[run.config.seed])
    assert [{seed for _, seed, _ in places(cohort)} for cohort in cohorts] == [{1, 3}, {2}]


@settings(max_examples=40)
@given(
    rules=st.permutations(["bp", "fa", "dfa", "dfa[normalise=batch]", "fa[epsilon=0.5]"]),
    how_many=st.integers(1, 5),
    ks=st.sets(st.integers(0, 6), min_size=1),
    seeds=st.sets(st.integers(0, 50), min_size=1, max_size=9),
    size=st.integers(1, LARGEST),
)
def test_cohorts_are_a_partition_of_the_runs(rules, how_many, ks, seeds, size):
    net = NetConfig(width=4, blocks=6)
    planned = grid(*rules[:how_many], ks=list(ks), seeds=list(seeds), net=net)
    cohorts = partition(planned.runs(), size)
    together = [place for cohort in cohorts for place in places(cohort)]
    assert sorted(together) == sorted(planned_runs(planned))
    by_place = dict(zip(planned_runs(planned), planned.runs(), strict=True))
    for cohort in cohorts:
        falling = [k for _, _, k in places(cohort)]
        assert falling == sorted(falling, reverse=True)
        assert 1 <= len(cohort.runs) <= size
        assert len({config.rule.name for config in cohort.configs}) == 1
        assert cohort.configs == [by_place[place].config for place in places(cohort)]


def test_twins_of_all_rungs_may_be_trained_together_and_with_rungs():
    planned = grid("dfa", seeds=(1, 2))
    (choice,) = planned.rules
    twins = [run for k in (1, 2) for run in planned.with_intervention(choice, k, swapped(2 - k))]
    (cohort,) = partition([*planned.runs(), *twins])
    who = [(config.k, config.intervention.swapped) for config in cohort.configs]
    assert [k for k, _ in who] == sorted((k for k, _ in who), reverse=True)
    assert Counter(who) == dict.fromkeys(WITH_TWINS, 2)
    assert {rule.typed for rule in cohort.rules} == {"dfa"}


def test_runs_with_other_frozen_blocks_are_never_trained_together():
    """A cohort has its trained blocks in one piece: the last k of each run."""
    planned = grid("dfa", seeds=(1, 2))
    (choice,) = planned.rules
    frozen = [Intervention(), Intervention(frozen=(1,)), Intervention(frozen=(0,))]
    runs = [run for one in frozen for run in planned.with_intervention(choice, 2, one)]
    cohorts = partition(runs)
    assert [{config.intervention for config in cohort.configs} for cohort in cohorts] == [
        {one} for one in frozen
    ]
    assert [len(cohort.runs) for cohort in cohorts] == [2, 2, 2]


@settings(max_examples=40)
@given(
    kinds=st.lists(
        st.tuples(st.integers(0, 3), st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3))),
        min_size=1,
        max_size=12,
        unique_by=lambda kind: (kind[0], tuple(sorted(kind[1])), tuple(sorted(kind[2]))),
    ),
    size=st.integers(1, LARGEST),
)
def test_whatever_is_swapped_or_frozen_every_run_is_in_one_cohort_of_its_frozen_blocks(kinds, size):
    planned = grid("dfa", net=NetConfig(width=4, blocks=4), ks=(4,), seeds=(1, 2))
    (choice,) = planned.rules
    runs = [
        run
        for k, on_noise, kept in kinds
        for run in planned.with_intervention(
            choice, k, Intervention(swapped=tuple(sorted(on_noise)), frozen=tuple(sorted(kept)))
        )
    ]
    cohorts = partition(runs, size)
    assert sorted(i for cohort in cohorts for i in cohort.identities) == sorted(
        run.identity for run in runs
    )
    for cohort in cohorts:
        assert len({config.intervention.frozen for config in cohort.configs}) == 1
        assert len(cohort.runs) <= size


# Planned into a study


def test_runs_with_interventions_are_planned_once_and_read_back_as_they_were(tmp_path):
    """Each of a study's stages adds a file; another process trains from it."""
    planned = grid("dfa")
    study = study_of(planned, tmp_path)
    rungs = plan(study, planned)
    (choice,) = planned.rules
    twins = RunList(
        planned.task, planned.base, planned.with_intervention(choice, 2, swapped(0)), "twin"
    )
    added = plan_runs(study, twins, TASK.name, 0)
    assert plan_runs(study, twins, TASK.name, 0) == cohorts_left(study, twins) == added
    assert StudyFolder(tmp_path).plan_files.read().current == [*rungs, *added]
    assert [config for cohort in added for config in cohort.configs] == [
        run.config for run in twins.runs()
    ]
    assert plan(study, planned) == rungs


def test_what_was_planned_is_written_down_with_the_task_as_it_was_typed(tmp_path):
    planned = grid("dfa", "bp")
    study = study_of(planned, tmp_path)
    cohorts = plan(study, planned)
    assert cohorts == partition(planned.runs())
    written = StudyFolder(tmp_path).plan_files.read()
    assert written.current == cohorts
    assert written.task_of(cohorts[0]) == (TASK.name, 0)
    assert written.file_of(cohorts[0]).chance == TASK.chance
    assert written.steps_of(cohorts[0]) == len(TASK.train) / RECIPE.batch_size


def test_another_size_changes_only_what_was_not_planned(tmp_path):
    """As on another machine: the plan that is there stays."""
    study = study_of(grid(), tmp_path)
    old = plan_runs(study, grid("dfa"), TASK.name, 0, 4)
    assert [len(cohort.runs) for cohort in old] == [3, 3]
    both = plan_runs(study, grid("dfa", "bp"), TASK.name, 0, 2)
    assert both[:2] == old
    assert [len(cohort.runs) for cohort in both[2:]] == [2, 2, 2]
    left = cohorts_left(study, grid("dfa", "bp", "fa"), 3)
    assert left[:5] == both
    assert [len(cohort.runs) for cohort in left[5:]] == [3, 3]


def test_a_rule_from_a_file_can_be_found_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from depthgauge.rules.dfa import DFA\nclass Mine(DFA):\n    name = 'mine'\n"
    )
    monkeypatch.chdir(tmp_path)
    (cohort,) = partition(grid("mine.py:Mine[epsilon=0.5]", seeds=(1,)).runs())
    assert cohort.rules[0].typed == f"{tmp_path.resolve()}/mine.py:Mine[epsilon=0.5]"


def test_the_same_grid_again_gives_the_same_cohorts_and_plans_nothing(tmp_path):
    planned = grid("dfa", "bp")
    study = study_of(planned, tmp_path)
    cohorts = plan(study, planned)
    before = contents(tmp_path)
    assert plan(study, planned) == plan(StudyFolder(tmp_path), planned) == cohorts
    assert contents(tmp_path) == before


def test_a_grid_that_grows_keeps_its_old_cohorts(tmp_path):
    small, larger = grid("dfa", seeds=(1, 2)), grid("dfa", "bp", seeds=(1, 2, 3))
    study = study_of(small, tmp_path)
    (old,) = plan(study, small)
    kept, *new = plan(study, larger)
    assert kept == old
    assert [sorted(places(cohort)) for cohort in new] == [
        [("dfa", 3, k) for k in (0, 1, 2)],
        [("bp", seed, k) for seed in (1, 2, 3) for k in (0, 1, 2)],
    ]


def test_a_part_of_a_planned_grid_is_the_cohorts_that_have_runs_of_it(tmp_path):
    study = study_of(grid(), tmp_path)
    dfa, bp = plan(study, grid("dfa", "bp"))
    assert plan(study, grid("bp", ks=(1,), seeds=(2,))) == [bp]
    assert plan(study, grid("dfa", ks=(1,), seeds=(2,))) == [dfa]


def test_runs_that_are_done_need_no_cohort(tmp_path):
    small = grid("dfa", ks=(0, 2), seeds=(1,))
    study = study_of(small, tmp_path)
    train_without_claims(study, small)
    assert plan(study, small) == []
    (rest,) = plan(study, grid("dfa", ks=(0, 1, 2), seeds=(1,)))
    assert places(rest) == [("dfa", 1, 1)]


def test_runs_that_are_done_without_a_plan_need_none(tmp_path):
    small = grid("dfa", ks=(0, 2), seeds=(1,))
    study = study_of(small, tmp_path)
    train_without_claims(study, small)
    forget_plan(tmp_path)
    assert plan(StudyFolder(tmp_path), small) == []
    assert not (tmp_path / "plan").exists()


def test_runs_that_were_begun_without_a_plan_go_on_from_there(tmp_path):
    begun = grid("dfa", ks=(0, 2), seeds=(1,))
    study = study_of(begun, tmp_path)

    def stop(epoch: int, steps: int) -> None:
        if steps == 4:
            raise Killed

    with pytest.raises(Killed):
        train_without_claims(study, begun, stop)
    forget_plan(tmp_path)
    study = StudyFolder(tmp_path)
    wider = grid("dfa", ks=(0, 2), seeds=(1, 2))
    cohorts = plan(study, wider)
    assert [{seed for _, seed, _ in places(cohort)} for cohort in cohorts] == [{1}, {2}]
    train_without_claims(study, wider)
    resumed = {
        folder.config.seed: (folder.result or {})["provenance"]["resumed_from"]
        for folder in study.all_runs()
    }
    assert resumed == {1: [1, 1], 2: None}


def forget_plan(folder: Path) -> None:
    """As studies were before plans were written down."""
    for path in (folder / "plan").iterdir():
        path.unlink()
    (folder / "plan").rmdir()


# Two that plan at once


def test_of_two_that_plan_at_once_the_second_plans_the_rest(tmp_path, monkeypatch):
    study = study_of(grid(), tmp_path)
    first, second = grid("dfa", "bp"), grid("bp", "fa")
    add, others = study.plan_files.add, []

    def add_late(*arguments):
        monkeypatch.setattr(study.plan_files, "add", add)
        others.extend(plan(StudyFolder(tmp_path), first))
        return add(*arguments)

    monkeypatch.setattr(study.plan_files, "add", add_late)
    own = plan(study, second)
    assert labels(others) == [{"dfa"}, {"bp"}]
    assert labels(own) == [{"bp"}, {"fa"}]
    assert own[0] == others[1]
    assert labels(study.plan_files.read().current) == [{"dfa"}, {"bp"}, {"fa"}]


def test_of_many_that_plan_the_same_one_does_and_all_have_the_same_cohorts(tmp_path):
    planned, threads = grid("dfa", "bp", "fa"), 8
    study_of(planned, tmp_path)
    barrier = threading.Barrier(threads)

    def plan_at_once(_: int) -> list[CohortPlan]:
        study = StudyFolder(tmp_path)
        barrier.wait()
        return plan(study, planned)

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(plan_at_once, range(threads)))
    assert found == [partition(planned.runs())] * threads
    assert [path.name for path in (tmp_path / "plan").iterdir()] == ["1.json"]
