"""Swapped credit: noise of the same norm in the place of what a rule gives some of its blocks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.config import RunConfig
from depthgauge.training.random_streams import random_stream


class SwappedCredit:
    """Noise in the place of the credit of those blocks that a run's intervention names.

    The noise of a step comes from `random_stream("swapped", seed, epoch, step, block)`. It depends
    on that name alone, so a run gets the same noise in any cohort and after any interruption.
    """

    def __init__(self, configs: Sequence[RunConfig]) -> None:
        self.runs_of: dict[int, list[int]] = {}
        """The runs in which a block's credit is swapped, by block."""
        for run, config in enumerate(configs):
            for block in config.intervention.swapped:
                self.runs_of.setdefault(block, []).append(run)
        self._seeds = [config.seed for config in configs]
        self._epoch, self._step = 0, 0

    def start(self, epoch: int, step: int) -> None:
        """Go on before this step of this epoch."""
        self._epoch, self._step = epoch, step

    def next_step(self) -> None:
        """Go on to the step after this one."""
        self._step += 1

    def of_block(self, block: int, credit: Tensor) -> Tensor:
        """Return the credit of a block, (runs, samples, d), with that of some runs replaced."""
        runs = self.runs_of.get(block)
        if not runs:
            return credit
        swapped = credit.clone()
        for run in runs:
            swapped[run] = self.of_run(run, block, credit[run])
        return swapped

    def of_run(self, run: int, block: int, credit: Tensor) -> Tensor:
        """Return noise with the norm of this credit, (samples, d), sample by sample."""
        generator = random_stream("swapped", self._seeds[run], self._epoch, self._step, block)
        noise = torch.randn(credit.shape, generator=generator).to(credit)
        return noise * (_norms(credit) / _norms(noise)).to(credit.dtype)


def _norms(vectors: Tensor) -> Tensor:
    """Norms in float64: squares of very small and very large credit leave the range of float32."""
    norms: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True, dtype=torch.float64)
    return norms
