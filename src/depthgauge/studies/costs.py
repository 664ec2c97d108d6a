"""What runs of a study cost, group by group: assumed by their weights, or tried here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from depthgauge.config import Engine
from depthgauge.errors import UserError
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.rules.choice import choose_rule
from depthgauge.store.plan_files import CohortPlan
from depthgauge.studies.assumed import assumed_footprint, assumed_pace
from depthgauge.studies.footprint import Footprint
from depthgauge.studies.free_memory import free_memory
from depthgauge.studies.measured import Bench
from depthgauge.studies.pace import Pace
from depthgauge.studies.partition import LARGEST, alike
from depthgauge.studies.plan import PlannedRun
from depthgauge.studies.room import bytes_of, own_bytes, room_for_each, runs_that_fit
from depthgauge.tasks.base import Task
from depthgauge.training.kept_memory import give_freed_memory_back

WORTH_MEASURING = 600.0
"""Seconds of work on one core, as assumed, from which on steps are timed."""

SMALL = 2e8
"""Bytes of cohorts, as assumed, that are not worth counting."""

PLENTY = 0.1
"""The share of free memory which cohorts may be assumed to hold without being counted."""


@dataclass(frozen=True)
class Group:
    """Runs that can be trained together.

    Each takes so many `steps`, readings between epochs included; `paces` are by the number of
    threads, and `timed` if they are not assumed.
    """

    runs: Sequence[PlannedRun]
    steps: float
    footprint: Footprint
    paces: dict[int, Pace]
    timed: bool = False


def costs_of(
    runs: Sequence[PlannedRun],
    bench: Bench,
    threads: Sequence[int],
    workers: int,
    *,
    here: bool = True,
) -> list[Group]:
    """Tried where it is long or memory may be short; only memory if they are trained elsewhere."""
    groups = [_assumed(members, bench.task, threads) for members in alike(runs)]
    timed = here and sum(_work(group, bench.task) for group in groups) > WORTH_MEASURING
    held = max(bytes_of(group.runs[:LARGEST], group.footprint) for group in groups)
    if timed or held * workers > PLENTY * free_memory(bench.device):
        groups = [_tried(group, bench, timed) for group in groups]
        give_freed_memory_back()
    return groups


def _assumed(runs: Sequence[PlannedRun], task: Task, threads: Sequence[int]) -> Group:
    """A sample that is read costs a third of one that is learned from, or all of it for norms."""
    kind, samples, evaluated = runs[0].kind, len(task.train), len(task.evaluation)
    read = evaluated / 3 + min(BATCH_READ * BATCHES_READ, evaluated)
    epoch = -(-samples // kind.recipe.batch_size) * (1 + read / samples)
    footprint = assumed_footprint(kind.net, kind.recipe, task)
    paces = {number: assumed_pace(kind, task, number) for number in threads}
    return Group(runs, kind.recipe.epochs * epoch, footprint, paces)


def _work(group: Group, task: Task) -> float:
    """Seconds on one core, about."""
    return assumed_pace(group.runs[0].kind, task, 1).run * group.steps * len(group.runs)


def _tried(group: Group, bench: Bench, timed: bool) -> Group:
    """Counted, and timed if asked; as assumed where it fails, which training will write down.

    What is tried are two runs at first, so these must fit.
    """
    room, first = room_for_each(1, bench.device), group.runs[0]
    if runs_that_fit([first, first], group.footprint, room) < 2:  # noqa: PLR2004
        return group
    try:
        counted = replace(group, footprint=bench.footprint(first.config, first.choice.build()))
        if not timed:
            return counted
        fitting = runs_that_fit(group.runs[:LARGEST], counted.footprint, room)
        paces = bench.paces(group.runs[: max(1, fitting)], list(group.paces))
        return replace(counted, paces=paces, timed=True)
    except UserError:
        raise
    except Exception:
        return group


def cohort_bytes(cohort: CohortPlan, task: Task, engine: Engine = "cohort") -> int:
    """Memory of a process that trains a cohort on a processor, here or elsewhere.

    Counted on a small one here if it is large; as assumed where the rule fails, which training will
    write down.
    """
    alone, config = own_bytes(), cohort.configs[0]
    seeds, ks = len({one.seed for one in cohort.configs}), [one.k for one in cohort.configs]
    footprint = assumed_footprint(cohort.net, cohort.recipe, task)
    if footprint.bytes_of(seeds, ks) > SMALL:
        with suppress(Exception):
            rule = choose_rule(cohort.typed(0)).build()
            footprint = Bench(task, "cpu", engine).footprint(config, rule)
    return round(alone + footprint.bytes_of(seeds, ks))
