"""The jobs of the benchmark: one for each case of each kind of measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import psutil
import torch

from . import gauges, growth, memory, parts, profile, ratios
from .axes import axes_of
from .memory_groups import cases_together, sizes_together
from .settings import Settings
from .time_estimate import TimeEstimate
from .training import Training

OnRound = Callable[[], None]


@dataclass(frozen=True)
class Job:
    """One case of a kind of measurement, and its estimated seconds."""

    kind: str
    name: str
    seconds: float
    measure: Callable[[OnRound], dict[str, Any]]
    text: Callable[[dict[str, Any]], str]


def jobs_of(settings: Settings, estimate: TimeEstimate) -> list[Job]:
    """Return all jobs, in the order in which they are measured."""
    kinds = {
        "ratios": _ratios,
        "profile": _profile,
        "parts": _parts,
        "growth": _growth,
        "gauges": _gauges,
        "memory": _memory,
    }
    return [job for kind in settings.kinds for job in kinds[kind](settings, estimate)]


def _ratios(settings: Settings, estimate: TimeEstimate) -> Iterator[Job]:
    """Yield a job for every rule and shape, or several if not all sizes fit into memory at once."""
    cores, free = torch.get_num_threads(), psutil.virtual_memory().available
    how = (settings.rounds, settings.seconds)
    for shape in settings.shapes:
        for case in settings.cases(shape):
            for sizes in sizes_together(case, settings.sizes, cores, free):
                seconds = estimate.ratios(case, sizes, *how)
                measure = partial(ratios.measure, case, sizes, *how)
                yield Job("ratios", f"ratios, {case}", seconds, measure, ratios.text)


def _profile(settings: Settings, estimate: TimeEstimate) -> Iterator[Job]:
    """Yield a job for every rule, with the first shape and the second largest cohort."""
    runs = sorted(settings.sizes)[-2:][0]
    for case in settings.cases(settings.shapes[0]):
        seconds = estimate.profile(case, runs, settings.rounds)
        measure = partial(profile.measure, case, runs, settings.rounds)
        yield Job("profile", f"profile, {case}", seconds, measure, profile.text)


def _parts(settings: Settings, estimate: TimeEstimate) -> Iterator[Job]:
    """Yield a job for every shape and size of cohorts, with as many rules as fit into memory."""
    free = psutil.virtual_memory().available
    for shape, size in product(settings.shapes, settings.sizes):
        for cases in cases_together(settings.cases(shape), size, free):
            seconds = estimate.parts(cases, size, settings.rounds)
            measure = partial(parts.measure, cases, size, settings.rounds)
            name = f"parts, {size} runs, d = {shape[0]}, L = {shape[1]}"
            yield Job("parts", name, seconds, measure, parts.text)


def _growth(settings: Settings, estimate: TimeEstimate) -> Iterator[Job]:
    """Yield a job for every rule and axis, around the first shape."""
    how = (settings.rounds, settings.seconds)
    for case in settings.cases(settings.shapes[0]):
        for axis in axes_of(case):
            if axis.name not in settings.axes:
                continue
            if axis.contender is Training and case.rule not in settings.trainings:
                continue
            seconds = estimate.growth(axis, *how)
            measure = partial(growth.measure, case, axis, *how)
            name = f"growth, {case.rule}, {axis.name}"
            yield Job("growth", name, seconds, measure, growth.text)


def _gauges(settings: Settings, estimate: TimeEstimate) -> Iterator[Job]:
    """Yield one job with all rules and the first shape."""
    cases = settings.cases(settings.shapes[0])
    seconds = estimate.gauges(cases, settings.rounds)
    measure = partial(gauges.measure, cases, settings.rounds)
    yield Job("gauges", "gauges", seconds, measure, gauges.text)


def _memory(settings: Settings, estimate: TimeEstimate) -> Iterator[Job]:
    """Yield a job for every rule, shape, size of cohorts and precision."""
    for shape, runs, dtype in product(settings.shapes, settings.sizes, settings.dtypes):
        for case in settings.cases(shape):
            seconds = estimate.memory(case, runs)
            measure = partial(memory.measure, replace(case, dtype=dtype), runs)
            yield Job(
                "memory", f"memory, {case}, {runs} runs, {dtype}", seconds, measure, memory.text
            )
