"""Simulated studies of ladders with a known truth: true accuracies, noise, and what a study finds.

A run is a string with a letter for each block, block 0 first. The letters: `t` is trained on the
true gradient; `w` too, but it is worth little; `h` does harm; `s` gains a little; `n` is trained on
noise; `x` is trained on the noise of a swap; `.` is not trained, or gets no credit, which is the
same. The letters of a rule give everything that a study trains: rungs, twins, confirming runs.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import depthgauge as dg
from depthgauge.diagnostics.used_depth import LEAST_SEEDS, UsedDepth
from depthgauge.verdict.used_depth import DELTA, SHARE_OF_GAIN

Array = NDArray[np.float64]
SEED = 1
TOGETHER = 500
"""The number of studies that are drawn at once."""

NOISE: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t4": lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2),
    "skewed down": lambda rng, shape: 1 - rng.standard_exponential(shape),
}
"""Distributions over seeds, with mean 0 and variance 1."""

ROUNDING = 1e-9
WORTH = {"s": 0.3, "w": 4.0, "h": -3.0}
"""The points that a block of each kind adds by itself."""


@dataclass(frozen=True)
class Task:
    """The true accuracies of a task, in per cent.

    Attributes:
        trained: the accuracy, by the number of blocks that follow the true gradient.
        noise: what noise adds if no block follows the true gradient, by the number of blocks that
            follow noise.
        beside: what noise adds if some block follows the true gradient.
        ks: the rungs above k = 0; the last one is the whole network.
    """

    trained: Sequence[float]
    noise: Sequence[float]
    beside: Sequence[float]
    ks: Sequence[int] = (1, 2, 3, 4)

    @property
    def blocks(self) -> int:
        return self.ks[-1]

    @property
    def delta(self) -> float:
        return min(100 * DELTA, SHARE_OF_GAIN * (self.trained[-1] - self.trained[0]))

    def mean(self, run: str) -> float:
        """Return the true accuracy of a run."""
        true, noisy = run.count("t"), run.count("n") + run.count("x")
        by_noise = (self.beside if true else self.noise)[noisy]
        return self.trained[true] + by_noise + sum(WORTH.get(letter, 0) for letter in run)

    def rung(self, rule: str, k: int) -> str:
        return keep(rule, range(self.blocks - k, self.blocks))

    def twin(self, rule: str, k: int) -> str:
        below = max((j for j in self.ks if j < k), default=0)
        return swap(self.rung(rule, k), range(self.blocks - k, self.blocks - below))

    def earning(self, rule: str) -> list[int]:
        """Return the rungs that truly earn."""
        return self._above(rule, ROUNDING)

    def used(self, rule: str) -> list[int]:
        """Return the rungs that truly earn δ."""
        return self._above(rule, self.delta - ROUNDING)

    def is_enough(self, rule: str, earning: Sequence[int]) -> bool:
        """Return whether the other blocks are truly worth less than δ beside these blocks."""
        rest = tuple(block for block in range(self.blocks) if block not in earning)
        best = max(self.mean(keep(rule, earning)), self.mean(swap(rule, rest)))
        return self.mean(rule) - best < self.delta - ROUNDING

    def _above(self, rule: str, least: float) -> list[int]:
        found = []
        for k in self.ks:
            here = self.mean(self.rung(rule, k))
            lower = [self.mean(self.rung(rule, j)) for j in (0, *self.ks) if j < k]
            if min(here - other for other in (*lower, self.mean(self.twin(rule, k)))) >= least:
                found.append(k)
        return found


EMBEDDED = Task((27.1, 55.7, 64.8, 69.2, 71.2), (0, 2.0, 3.0, 3.4, 3.9), (0, -2.5, -3.7, -4.9, -6))
"""As measured on the embedded task: noise costs accuracy beside a block that is trained."""
ADDING = replace(EMBEDDED, beside=(0, 1.0, 1.6, 2.0, 2.2))
"""The same, but noise adds also beside a block that is trained."""
AS_GOOD = replace(EMBEDDED, beside=(0, 2.0, 3.0, 3.5, 3.8))
"""Noise is as good as the true gradient at the last rung: backpropagation uses three."""
NEARLY = replace(EMBEDDED, beside=(0, 1.7, 2.6, 3.0, 3.2))
"""Noise is nearly as good: the last rung earns, but less than δ."""
ONE_DELTA = Task((27.1, 55.7, 64.8, 69.2, 69.7), EMBEDDED.noise, (0, 0, 0, 0, 0))
"""The last rung gains exactly δ, both over not training it and over noise."""
CIFAR = Task((38.9, 56.5, 59.8, 60.8, 61.7), (0, 0.5, 0.8, 1.0, 1.1), (0, 0, 0, 0, 0))
"""The published ladder of backpropagation; what noise does was not published."""
LONG = Task(
    (27.1, 55.7, 64.8, 67.0, 69.2, 70.2, 70.8, 71.2, 71.4),
    (0, 2.0, 3.0, 3.4, 3.9, 4.2, 4.4, 4.5, 4.6),
    (0, 0.4, 0.7, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4),
    ks=(1, 2, 4, 8),
)
"""Eight blocks of which some rungs are skipped; noise adds."""


@cache
def keep(rule: str, blocks: Sequence[int]) -> str:
    """Return the run that trains these blocks alone."""
    return "".join(letter if i in blocks else "." for i, letter in enumerate(rule))


@cache
def swap(rule: str, blocks: Sequence[int]) -> str:
    """Return the run that gives noise to these blocks; no credit stays none."""
    return "".join(
        "x" if i in blocks and letter != "." else letter for i, letter in enumerate(rule)
    )


@dataclass(frozen=True)
class Noise:
    """The differences between measured and true accuracies.

    Attributes:
        tails: the distribution over seeds.
        spread: its standard deviation, in points.
        factor: the ratio between the largest and the smallest spread. A rung that trains more
            blocks spreads more; a swapped run that trains more blocks spreads less.
        samples: the number of evaluation samples, which all seeds share; None for no noise from
            samples.
    """

    tails: str = "normal"
    spread: float = 0.5
    factor: float = 1.0
    samples: int | None = None

    def spread_of(self, run: str) -> float:
        share = 1 - run.count(".") / len(run)
        return self.spread * self.factor ** (1 - share if "x" in run else share)


@dataclass
class Runs:
    """The runs of one rule in one study; a run keeps the accuracies that were drawn for it."""

    task: Task
    noise: Noise
    drawn: Sequence[Sequence[float]]
    """For each run a number for each seed, and one for the evaluation samples."""
    known: dict[str, list[float]] = field(default_factory=dict)

    def __call__(self, run: str, seeds: int | None = None) -> list[float]:
        if run not in self.known:
            *by_seed, by_samples = self.drawn[len(self.known)]
            mean, spread = self.task.mean(run) / 100, self.noise.spread_of(run) / 100
            if self.noise.samples:
                mean += math.sqrt(mean * (1 - mean) / self.noise.samples) * by_samples
            self.known[run] = [min(max(mean + spread * each, 0.0), 1.0) for each in by_seed]
        return self.known[run][:seeds]


def find_depth(
    task: Task,
    rule: str,
    runs: Callable[[str], list[float]],
    samples: int | None = None,
    bp: UsedDepth | None = None,
) -> UsedDepth:
    """Return used depth as a study finds it: from ladder and twins, then from the runs they need.

    A real study trains fewer runs: no twins that cannot change the result, and noise for the other
    blocks only where the confirming run does not show that they are idle. A test shows that the
    results are the same.
    """
    rungs = {k: runs(task.rung(rule, k)) for k in (0, *task.ks)}
    twins = {k: runs(task.twin(rule, k)) for k in task.ks}
    depth = dg.used_depth(rungs, twins=twins, samples=samples, bp=bp)
    if depth.is_idle or depth.seeds < LEAST_SEEDS or len(depth.earning_blocks) == depth.blocks:
        return depth
    needed = depth.low and depth.needs_confirming
    return dg.used_depth(
        rungs,
        twins=twins,
        confirming=runs(keep(rule, depth.earning_blocks)) if needed else None,
        rest_on_noise=runs(swap(rule, rest_of(depth))),
        samples=samples,
        bp=bp,
    )


def rest_of(depth: UsedDepth) -> tuple[int, ...]:
    """Return the blocks that are not shown to earn."""
    return tuple(block for block in range(depth.blocks) if block not in depth.earning_blocks)


def word_of(depth: UsedDepth) -> str:
    """Return the word of a study whose D1, D2 and D3 pass."""
    if not depth.is_testable:
        return "no alarm, depth untested"
    if depth.is_shallow:
        return "shallow"
    return "trustworthy" if depth.is_deep else "inconclusive"


DECIDED = ("shallow", "trustworthy")


@dataclass(frozen=True)
class Truth:
    """The truth about a rule.

    Attributes:
        task: the true accuracies.
        rule: the letters of the rule.
        earning: the rungs that truly earn.
        used: the rungs that truly earn δ.
    """

    task: Task
    rule: str
    earning: Sequence[int]
    used: Sequence[int]

    @classmethod
    def of(cls, task: Task, rule: str) -> Truth:
        return cls(task, rule, task.earning(rule), task.used(rule))

    def judge(self, depth: UsedDepth) -> Iterator[str]:
        """Yield the word of a used depth, then the names of its errors and right answers."""
        rungs = [rung.k for rung in depth.rungs if rung.earns]
        blocks = sum(len(rung.blocks) for rung in depth.rungs if rung.k in self.used)
        yield word_of(depth)
        answers = {
            "low too large": depth.low > len(self.earning),
            "a rung wrongly": not set(rungs) <= set(self.earning),
            "high too small": depth.high < blocks,
            "idle wrongly": depth.is_idle
            and not self.task.is_enough(self.rule, depth.earning_blocks),
            "low right": rungs == self.earning,
            "estimate right": depth.rungs_in_use == len(self.used),
        }
        yield from (name for name, holds in answers.items() if holds)


def simulate(
    task: Task, rules: Sequence[str], noise: Noise, looks: Sequence[int], studies: int
) -> Iterator[list[list[UsedDepth]]]:
    """Yield studies: at each look the used depth of backpropagation, then of each rule.

    A look is a number of seeds. Its seeds are also those of later looks.
    """
    everyone = ["t" * task.blocks, *rules]
    for runs in simulate_runs(task, rules, noise, looks, studies):
        yield [_look(task, everyone, runs, noise.samples, seeds) for seeds in looks]


def simulate_runs(
    task: Task, rules: Sequence[str], noise: Noise, looks: Sequence[int], studies: int
) -> Iterator[list[Runs]]:
    """Yield studies: the runs of backpropagation, then those of each rule."""
    rng = np.random.default_rng([SEED, zlib.crc32(f"{task} {noise} {tuple(looks)}".encode())])
    slots = 2 * len(task.ks) + 1 + 2 * len(looks)
    for start in range(0, studies, TOGETHER):
        shape = (min(TOGETHER, studies - start), len(rules) + 1, slots)
        by_seed = NOISE[noise.tails](rng, (*shape, max(looks)))
        by_samples = rng.standard_normal((*shape, 1))
        for study in np.concatenate([by_seed, by_samples], axis=-1).tolist():
            yield [Runs(task, noise, drawn) for drawn in study]


def _look(
    task: Task, rules: Sequence[str], runs: Sequence[Runs], samples: int | None, seeds: int
) -> list[UsedDepth]:
    bp: UsedDepth | None = None
    found = []
    for rule, own in zip(rules, runs, strict=True):
        found.append(find_depth(task, rule, partial(own, seeds=seeds), samples, bp))
        bp = bp or found[0]
    return found


def count_errors(
    task: Task, rules: Sequence[str], noise: Noise, looks: Sequence[int], studies: int
) -> dict[str, dict[str, Any]]:
    """Return for backpropagation and each rule the truth, and how often each answer was given.

    A study that is looked at several times ends at the first word that decides.
    """
    everyone = {"bp": "t" * task.blocks, **{rule: rule for rule in rules}}
    truths = [Truth.of(task, rule) for rule in everyone.values()]
    counts = [Counter[str]() for _ in everyone]
    for study in simulate(task, rules, noise, looks, studies):
        for place, truth in enumerate(truths):
            found = (each[place] for each in study if word_of(each[place]) in DECIDED)
            counts[place].update(truth.judge(next(found, study[-1][place])))
    of_bp = len(truths[0].used)
    return {
        label: {
            "earning": len(truth.earning),
            "used": len(truth.used),
            "used_by_bp": of_bp,
            "counts": dict(sorted(count.items())),
        }
        for label, truth, count in zip(everyone, truths, counts, strict=True)
    }
