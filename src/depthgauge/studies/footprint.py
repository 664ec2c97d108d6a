"""The memory of a cohort, counted on cohorts of one and two runs and predicted for any.

While a cohort is built, while it is read, and while it takes a step, it holds so many bytes of
tensors:

    fixed + seed · (its seeds) + Σ over its runs of (frozen + block · k)

k, the number of blocks that a run trains, decides how many gradients and moments it has; runs of a
seed share their batches. Four cohorts tell the four figures. Writing a checkpoint takes one run's
tensors once more, and never is the most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import modules

from depthgauge.config import Engine, RunConfig
from depthgauge.gauges.cohort import CHUNK
from depthgauge.rules.contract import Rule
from depthgauge.studies.live_bytes import LiveBytes
from depthgauge.studies.trial import Trial
from depthgauge.tasks.base import Task

SCATTERED = 1.15
"""Memory that is taken for tensors, over what they hold: what is free lies between them."""

KERNELS = 2.5e7
"""Bytes of libraries that a process loads for its first step."""

COMPILER = 9e7
"""Bytes of PyTorch's compiler, which is loaded by the first gradient of `torch.func`.

Rules that ask for a part of the network as a function take such gradients.
"""


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
    """Of cohorts of one kind: what each phase holds, and whether the rule loads a compiler."""

    phases: tuple[Held, ...]
    compiler: bool = False

    def bytes_of(self, seeds: int, ks: Sequence[int]) -> float:
        """What a process takes for runs that train so many blocks each, beside what it has."""
        most = max(phase.bytes_of(seeds, ks) for phase in self.phases)
        return KERNELS + COMPILER * self.compiler + SCATTERED * most


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
    differentiates = bool(rule.needs & {"readout", "blocks"})
    return Footprint(tuple(_solved(*phase, most) for phase in phases), differentiates)


def compiler_is_loaded() -> bool:
    """Whether this process has PyTorch's compiler."""
    return "torch._dynamo" in modules


def _solved(one: int, two: int, frozen: int, seeds: int, blocks: int) -> Held:
    """From one run, two alike, a frozen one beside it, and two of different seeds."""
    seed, block = seeds - two, (two - frozen) / max(1, blocks)
    return Held(one - seed - (two - one), seed, frozen - one, block)


def _held(
    configs: Sequence[RunConfig], rules: Sequence[Rule], task: Task, device: str, engine: Engine
) -> list[int]:
    """The most bytes of tensors while a cohort is built, while it is read, and while it learns."""
    found: list[int] = []
    with LiveBytes() as live:
        with live.most(found):
            trial = Trial(configs, rules, task, device, engine)
        with live.most(found):
            trial.read(CHUNK)
        with live.most(found):
            trial.step()
            trial.step()
    return found
