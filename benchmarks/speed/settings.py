"""The settings of the benchmark, from the command line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from depthgauge.config import Precision

from .cases import RULES, SHAPES, SIZES, TRAINING, Case

AXES = ("runs", "batch", "width", "depth", "samples", "epochs")
KINDS = ("ratios", "profile", "parts", "growth", "gauges", "memory")


@dataclass(frozen=True)
class Settings:
    """The settings of the benchmark.

    Each turn of a contender takes about `seconds`. Growth with samples and epochs needs whole
    trainings, and is measured only for the rules in `trainings`.
    """

    kinds: tuple[str, ...]
    rules: tuple[str, ...]
    shapes: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    axes: tuple[str, ...]
    trainings: tuple[str, ...]
    dtypes: tuple[Precision, ...]
    rounds: int
    seconds: float
    samples: int
    json: Path | None

    def cases(self, shape: tuple[int, int]) -> list[Case]:
        """Return a case for each rule, with networks of one shape."""
        return [Case(rule, *shape, samples=self.samples) for rule in self.rules]


def read_settings(description: str) -> Settings:
    """Read the settings from the command line."""
    usual = [f"{width}x{blocks}" for width, blocks in SHAPES]
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("what", nargs="?", choices=KINDS, help="measure only this")
    add("--rules", nargs="+", default=list(RULES))
    add("--shapes", nargs="+", default=usual, help="growth and gauges: around the first")
    add("--sizes", nargs="+", type=int, default=list(SIZES), help="runs of a cohort")
    add("--axes", nargs="+", choices=AXES, default=list(AXES), help="of growth")
    add("--trainings", nargs="+", default=["bp", "dfa"], help="rules for samples and epochs")
    add("--dtypes", nargs="+", choices=get_args(Precision), default=["float32"], help="of memory")
    add("--rounds", type=int, default=5)
    add("--seconds", type=float, default=3.0, help="about how long each turn takes")
    add("--samples", type=int, default=TRAINING, help="size of the training set")
    add("--json", type=Path, help="file of results, written after every case")
    args = parser.parse_args()
    return Settings(
        kinds=(args.what,) if args.what else KINDS,
        rules=tuple(args.rules),
        shapes=tuple(_shape(text) for text in args.shapes),
        sizes=tuple(args.sizes),
        axes=tuple(args.axes),
        trainings=tuple(args.trainings),
        dtypes=tuple(args.dtypes),
        rounds=args.rounds,
        seconds=args.seconds,
        samples=args.samples,
        json=args.json,
    )


def _shape(text: str) -> tuple[int, int]:
    width, blocks = map(int, text.split("x"))
    return width, blocks
