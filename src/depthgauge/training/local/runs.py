"""Runs of any network, trained one after the other on each batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.config import RunConfig
from depthgauge.gauges.epoch_metrics import RunReadings
from depthgauge.gauges.network_metrics import norms_of_network, scores_of_network
from depthgauge.nets.finite import name_not_finite
from depthgauge.nets.stream_reader import NotFiniteError, StreamReader
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Split, Task
from depthgauge.training.batches import Batch
from depthgauge.training.local.run import LocalRun
from depthgauge.training.trainee import RunState, RunTensors


class LocalRuns:
    """Runs of networks of any kind that share task, recipe and seeds' batches.

    Each run is a `LocalRun` of its own. A study trains one run in each process; several runs share
    an object only if the option `engine` asks for this path with small networks.

    Args:
        configs: the runs.
        rules: each run's rule, with its options.
        task: what the runs learn.
        device: the device of all tensors.
    """

    def __init__(
        self,
        configs: Sequence[RunConfig],
        rules: Sequence[Rule],
        task: Task,
        device: torch.device | str = "cpu",
    ) -> None:
        self.configs: Sequence[RunConfig] = list(configs)
        self.recipe, self.device = configs[0].recipe, device
        self.seeds: Sequence[int] = sorted({config.seed for config in configs})
        self.runs = [
            LocalRun(config, rule, task, device)
            for config, rule in zip(configs, rules, strict=True)
        ]
        self.dtype = self.runs[0].dtype

    def start_epoch(self, epoch: int, step: int = 0) -> None:
        """Set the learning rate and the random streams of an epoch; `step` steps are done."""
        for run in self.runs:
            run.start_epoch(epoch, step)

    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; return each run's mean loss before the update."""
        losses = []
        for run in self.runs:
            group = self.seeds.index(run.config.seed)
            losses.append(run.step(batch.inputs[group], batch.labels[group], progress))
        return torch.stack(losses)

    def tensors(self, *, with_moments: bool = True) -> list[RunTensors]:
        """Return the tensors of every run, not copied; moments only if they are asked for."""
        return [run.tensors(with_moments=with_moments) for run in self.runs]

    def have_finite_weights(self) -> list[bool]:
        """Return for each run whether its weights are finite, and its buffers have no NaN."""
        return [name_not_finite(run.net) is None for run in self.runs]

    def restore(self, states: Sequence[RunState], steps: int) -> None:
        """Copy saved states into the runs, which were trained for so many steps."""
        for run, state in zip(self.runs, states, strict=True):
            run.restore(state, steps)

    def continue_noise(self, states: Sequence[Tensor | None]) -> None:
        """Continue the rule's noise of every run from a saved random state."""
        for run, state in zip(self.runs, states, strict=True):
            run.continue_noise(state)

    def sample_scores(self, split: Split, chunk: int) -> Tensor:
        """Return each run's score on each sample, as (runs, samples)."""
        return torch.stack(
            [scores_of_network(run.net, split, run.loss, chunk) for run in self.runs]
        )

    def norms(self, split: Split, batches: int, batch_size: int) -> list[RunReadings]:
        """Return each run's norms of the stream and its gradients on the first batches."""
        return [_norms(run, split, batches, batch_size) for run in self.runs]


def _norms(run: LocalRun, split: Split, batches: int, batch_size: int) -> RunReadings:
    """Return the norms of a run; numbers that are not finite if its weights are not."""
    blocks, returns, layout = run.config.net.blocks, run.passage.returns, run.layout
    try:
        net = StreamReader(run.net, run.blocks, loss=run.loss, returns=returns, layout=layout)
    except NotFiniteError:
        lost: list[float | None] = [math.nan] * (blocks + 1)
        return {"h_norm": lost, "g_norm": lost, "g_over_e": math.nan}
    return norms_of_network(net, split, blocks, batches=batches, batch_size=batch_size)
