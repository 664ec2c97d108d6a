"""What runs of a study cost, group by group: assumed by their weights, or tried here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from depthgauge.config import Engine, RunConfig
from depthgauge.errors import UserError
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ
from depthgauge.rules.choice import RuleChoice, choose_rule
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

TOO_LONG = 2.0
"""Seconds of one run's step on a core, as assumed, from which on its memory is not counted."""


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

    Two cohorts are timed in turn, so that each has half of the memory.
    """
    try:
        kinds = {id(run.kind): run for run in group.runs}.values()
        each = [(run.config, run.choice) for run in kinds]
        counted = replace(group, footprint=_counted(each, group.footprint, bench))
        if not timed or counted.footprint is group.footprint:
            return counted
        room = room_for_each(1, bench.device) / 2
        fitting = runs_that_fit(group.runs[:LARGEST], counted.footprint, room)
        paces = bench.paces(group.runs[: max(1, fitting)], list(group.paces))
        return replace(counted, paces=paces, timed=True)
    except UserError:
        raise
    except Exception:
        return group


def _counted(
    each: Sequence[tuple[RunConfig, RuleChoice]], assumed: Footprint, bench: Bench
) -> Footprint:
    """A rule's with those of its options that hold most; one run of each is given.

    As assumed where two runs, which are tried, do not fit or take long.
    """
    first = each[0][0]
    two, step = [first] * 2, assumed_pace(first, bench.task, 1).run
    slow = bench.device == "cpu" and step > TOO_LONG
    if slow or bytes_of(two, assumed) > room_for_each(1, bench.device):
        return assumed
    found = [bench.footprint(config, choice.build()) for config, choice in each]
    return max(found, key=lambda footprint: bytes_of(two, footprint))


def cohort_bytes(cohort: CohortPlan, task: Task, engine: Engine = "cohort") -> int:
    """Memory of a process that trains a cohort on a processor, here or elsewhere.

    Counted on a small one here if it is large; as assumed where the rule fails, which training will
    write down.
    """
    alone, footprint = own_bytes(), assumed_footprint(cohort.net, cohort.recipe, task)
    if bytes_of(cohort.configs, footprint) > SMALL:
        with suppress(Exception):
            first = {rule: position for position, (rule, *_) in enumerate(cohort.runs)}.values()
            each = [(cohort.configs[one], choose_rule(cohort.typed(one))) for one in first]
            footprint = _counted(each, footprint, Bench(task, "cpu", engine))
    return round(alone + bytes_of(cohort.configs, footprint))
