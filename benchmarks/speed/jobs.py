"""All that is to be measured, case by case."""

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
from .expected import Expected
from .fitting import cases_together, sizes_together
from .settings import Settings
from .training import Training

OnRound = Callable[[], None]


@dataclass(frozen=True)
class Job:
    """One case of a kind of measurement, and how long it should take."""

    kind: str
    name: str
    expected: float
    measure: Callable[[OnRound], dict[str, Any]]
    text: Callable[[dict[str, Any]], str]


def jobs_of(settings: Settings, expected: Expected) -> list[Job]:
    """In the order in which they are measured."""
    kinds = {
        "ratios": _ratios,
        "profile": _profile,
        "parts": _parts,
        "growth": _growth,
        "gauges": _gauges,
        "memory": _memory,
    }
    return [job for kind in settings.kinds for job in kinds[kind](settings, expected)]


def _ratios(settings: Settings, expected: Expected) -> Iterator[Job]:
    """A job for every rule and shape; several where not all sizes fit into memory together."""
    cores, free = torch.get_num_threads(), psutil.virtual_memory().available
    how = (settings.rounds, settings.seconds)
    for shape in settings.shapes:
        for case in settings.cases(shape):
            for sizes in sizes_together(case, settings.sizes, cores, free):
                seconds = expected.ratios(case, sizes, *how)
                measure = partial(ratios.measure, case, sizes, *how)
                yield Job("ratios", f"ratios, {case}", seconds, measure, ratios.text)


def _profile(settings: Settings, expected: Expected) -> Iterator[Job]:
    """A job for every rule, of the first shape and the largest cohort but one."""
    runs = sorted(settings.sizes)[-2:][0]
    for case in settings.cases(settings.shapes[0]):
        seconds = expected.profile(case, runs, settings.rounds)
        measure = partial(profile.measure, case, runs, settings.rounds)
        yield Job("profile", f"profile, {case}", seconds, measure, profile.text)


def _parts(settings: Settings, expected: Expected) -> Iterator[Job]:
    """A job for every shape and size of cohorts, with all rules that fit into memory together."""
    free = psutil.virtual_memory().available
    for shape, size in product(settings.shapes, settings.sizes):
        for cases in cases_together(settings.cases(shape), size, free):
            seconds = expected.parts(cases, size, settings.rounds)
            measure = partial(parts.measure, cases, size, settings.rounds)
            name = f"parts, {size} runs, d = {shape[0]}, L = {shape[1]}"
            yield Job("parts", name, seconds, measure, parts.text)


def _growth(settings: Settings, expected: Expected) -> Iterator[Job]:
    """A job for every rule and axis, around the first shape."""
    how = (settings.rounds, settings.seconds)
    for case in settings.cases(settings.shapes[0]):
        for axis in axes_of(case):
            if axis.name not in settings.axes:
                continue
            if axis.contender is Training and case.rule not in settings.trainings:
                continue
            seconds = expected.growth(axis, *how)
            measure = partial(growth.measure, case, axis, *how)
            name = f"growth, {case.rule}, {axis.name}"
            yield Job("growth", name, seconds, measure, growth.text)


def _gauges(settings: Settings, expected: Expected) -> Iterator[Job]:
    """One job, all rules in it, networks of the first shape."""
    cases = settings.cases(settings.shapes[0])
    seconds = expected.gauges(cases, settings.rounds)
    measure = partial(gauges.measure, cases, settings.rounds)
    yield Job("gauges", "gauges", seconds, measure, gauges.text)


def _memory(settings: Settings, expected: Expected) -> Iterator[Job]:
    """A job for every rule, shape, size of cohorts and precision."""
    for shape, runs, dtype in product(settings.shapes, settings.sizes, settings.dtypes):
        for case in settings.cases(shape):
            seconds = expected.memory(case, runs)
            measure = partial(memory.measure, replace(case, dtype=dtype), runs)
            yield Job(
                "memory", f"memory, {case}, {runs} runs, {dtype}", seconds, measure, memory.text
            )
