"""The axes along which growth is measured: each varies one thing and keeps the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .cases import Case
from .engine import Engine
from .processes import Contender
from .training import Training


@dataclass(frozen=True)
class Axis:
    """One thing that grows.

    Attributes:
        name: the name of the thing.
        sizes: its sizes.
        at: returns the case at a size.
        runs: returns the number of runs of the cohort at a size.
        held: the fixed things, in words.
        contender: the contender: steps of a cohort with their share of evaluation, or a whole
            training with its readings and its store.
    """

    name: str
    sizes: Sequence[int]
    at: Callable[[int], Case]
    runs: Callable[[int], int]
    held: str
    contender: type[Contender[int]] = Engine


def axes_of(case: Case) -> list[Axis]:
    """Return the axes around a case.

    Along the axis of runs, cohorts are whole ladders (every k from L to 0) of several seeds. Along
    the other axes, a cohort is one whole ladder; along depth, where ladders differ, it is two seeds
    with all blocks trained. Whole trainings have narrow networks, to be short. Evaluation grows
    with the data as in CIFAR-10. D1 and D2 are always read on 1,280 samples, so the smallest data
    has more than that.
    """
    ladder, few = case.blocks + 1, case.samples // 4
    narrow = replace(case, width=max(1, case.width // 4))
    return [
        Axis(
            "runs",
            _doubling(ladder),
            at=lambda _: case,
            runs=lambda size: size,
            held=f"whole ladders of {ladder} runs",
        ),
        Axis(
            "batch",
            _doubling(case.batch // 4),
            at=lambda size: replace(case, batch=size),
            runs=lambda _: ladder,
            held=f"{ladder} runs",
        ),
        Axis(
            "width",
            _doubling(narrow.width),
            at=lambda size: replace(case, width=size),
            runs=lambda _: ladder,
            held=f"{ladder} runs",
        ),
        Axis(
            "depth",
            _doubling(2),
            at=lambda size: replace(case, blocks=size),
            runs=lambda _: 2,
            held="2 runs, all blocks trained",
        ),
        Axis(
            "samples",
            _doubling(few),
            at=lambda size: replace(narrow, samples=size, epochs=1),
            runs=lambda _: ladder,
            held=f"d = {narrow.width}, {ladder} runs, 1 epoch, evaluation samples in proportion",
            contender=Training,
        ),
        Axis(
            "epochs",
            _doubling(1),
            at=lambda size: replace(narrow, samples=few, epochs=size),
            runs=lambda _: ladder,
            held=f"d = {narrow.width}, {ladder} runs, {few:,} samples",
            contender=Training,
        ),
    ]


def _doubling(first: int) -> list[int]:
    return [first, 2 * first, 4 * first, 8 * first]
