"""Swapped credit: replace the credit of some blocks by noise of the same norm."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.config import RunConfig
from depthgauge.nets.layout import Layout
from depthgauge.rules.positions import sample_axes
from depthgauge.training.random_streams import random_stream


class SwappedCredit:
    """Replaces credit by noise, in the blocks that a run's intervention names.

    The noise of a step comes from `random_stream("swapped", seed, epoch, step, block)`. The stream
    depends on these arguments alone, so a run gets the same noise in any cohort and after any
    interruption.
    """

    def __init__(self, configs: Sequence[RunConfig]) -> None:
        self.runs_of: dict[int, list[int]] = {}
        """For each block, the runs in which noise replaces the block's credit."""
        for run, config in enumerate(configs):
            for block in config.intervention.swapped:
                self.runs_of.setdefault(block, []).append(run)
        self._seeds = [config.seed for config in configs]
        self._epoch, self._step = 0, 0

    def start(self, epoch: int, step: int) -> None:
        """Set the epoch and the step whose noise is drawn next."""
        self._epoch, self._step = epoch, step

    def next_step(self) -> None:
        """Go to the next step."""
        self._step += 1

    def of_block(self, block: int, credit: Tensor) -> Tensor:
        """Return a block's credit, (runs, samples, d), with noise in the runs that swap credit."""
        runs = self.runs_of.get(block)
        if not runs:
            return credit
        swapped = credit.clone()
        for run in runs:
            swapped[run] = self.of_run(run, block, credit[run])
        return swapped

    def of_run(self, run: int, block: int, credit: Tensor, layout: Layout | None = None) -> Tensor:
        """Return noise that has in each sample, over all its axes, the same norm as the credit."""
        generator = random_stream("swapped", self._seeds[run], self._epoch, self._step, block)
        noise = torch.randn(credit.shape, generator=generator).to(credit)
        axes = sample_axes(credit, layout or Layout())
        return noise * (_norms(credit, axes) / _norms(noise, axes)).to(credit.dtype)


def _norms(vectors: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return norms in float64: squares of very small or large credit leave float32's range."""
    norms: Tensor = torch.linalg.vector_norm(vectors, dim=axes, keepdim=True, dtype=torch.float64)
    return norms
