"""The memory of a cohort, counted on cohorts of one and two runs and predicted for any.

While a cohort is built, while it takes a step, and while it is read, it holds so many bytes:

    fixed + seed · (its seeds) + Σ over its runs of (frozen + block · k)

k, the number of blocks that a run trains, decides how many gradients and moments it has; runs of a
seed share their batches. Four cohorts tell the four figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from depthgauge.config import Engine, RunConfig
from depthgauge.gauges.cohort import CHUNK
from depthgauge.rules.contract import Rule
from depthgauge.studies.live_bytes import LiveBytes
from depthgauge.studies.trial import Trial
from depthgauge.tasks.base import Task


@dataclass(frozen=True)
class Held:
    """Bytes that a cohort holds at its most, in one phase of training."""

    fixed: float
    seed: float
    frozen: float
    block: float

    def bytes_of(self, seeds: int, ks: Iterable[int]) -> float:
        """Of runs that train so many blocks each."""
        return self.fixed + self.seed * seeds + sum(self.frozen + self.block * k for k in ks)


@dataclass(frozen=True)
class Footprint:
    """Of cohorts of one kind: what each phase holds."""

    phases: tuple[Held, ...]

    def bytes_of(self, seeds: int, ks: Sequence[int]) -> float:
        """The most that any phase holds, of runs that train so many blocks each."""
        return max(phase.bytes_of(seeds, ks) for phase in self.phases)

    def as_list(self) -> list[list[float]]:
        """For a JSON document."""
        return [[held.fixed, held.seed, held.frozen, held.block] for held in self.phases]

    @classmethod
    def from_list(cls, phases: list[list[float]]) -> Footprint:
        """As `as_list` gave it; ValueError or TypeError if it did not."""
        if not phases:
            raise ValueError("no phases")
        return cls(tuple(Held(*map(float, figures)) for figures in phases))


def count_footprint(
    config: RunConfig, rule: Rule, task: Task, device: str, engine: Engine
) -> Footprint:
    """Train cohorts of one and of two runs like this one for two steps."""
    most, least = config.net.blocks, 0

    def held(*runs: tuple[int, int]) -> list[int]:
        configs = [config.model_copy(update={"k": k, "seed": seed}) for k, seed in runs]
        return _held(configs, [rule] * len(runs), task, device, engine)

    phases = zip(
        held((most, 0)),
        held((most, 0), (most, 0)),
        held((most, 0), (least, 0)),
        held((most, 1), (most, 0)),
        strict=True,
    )
    return Footprint(tuple(_solved(*phase, most) for phase in phases))


def _solved(one: int, two: int, frozen: int, seeds: int, blocks: int) -> Held:
    """From one run, two alike, a frozen one beside it, and two of different seeds."""
    seed, block = seeds - two, (two - frozen) / max(1, blocks)
    return Held(one - seed - (two - one), seed, frozen - one, block)


def _held(
    configs: Sequence[RunConfig], rules: Sequence[Rule], task: Task, device: str, engine: Engine
) -> list[int]:
    """The most bytes of tensors while a cohort is built, while it learns, and while it is read."""
    found: list[int] = []
    with LiveBytes() as live:
        with live.most(found):
            trial = Trial(configs, rules, task, device, engine)
        with live.most(found):
            trial.step()
            trial.step()
        with live.most(found):
            trial.read(CHUNK)
    return found
