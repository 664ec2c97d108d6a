"""What the training loop trains: runs of networks of any kind, behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from depthgauge.config import Recipe, RunConfig
from depthgauge.gauges.epoch_metrics import RunReadings
from depthgauge.tasks.base import Split
from depthgauge.training.batches import Batch

Position = tuple[int, int]
"""The number of finished epochs, and of finished batches of the next epoch."""


@dataclass(frozen=True)
class RunState:
    """Everything that is needed to continue a run.

    The random streams and the order of samples follow from the seed and the number of the epoch
    (see `depthgauge.training.random_streams`), so they are not saved.

    Attributes:
        epoch, step: the number of finished epochs, and of finished batches of the next epoch.
        parameters: the network's weights and buffers.
        feedback: the rule's feedback.
        moments: the optimizer's moments; empty when training is over.
        loss: the sum of the training losses in the unfinished epoch.
        noise: the random state of the rule's noise in the unfinished epoch.
    """

    epoch: int
    parameters: dict[str, Tensor]
    feedback: dict[str, Tensor]
    moments: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    loss: float = 0.0
    noise: Tensor | None = None

    @property
    def position(self) -> Position:
        """The finished epochs, and the finished batches of the next epoch."""
        return self.epoch, self.step


@dataclass(frozen=True)
class RunTensors:
    """The tensors of one run that a checkpoint holds; the attributes are those of `RunState`."""

    parameters: dict[str, Tensor]
    feedback: dict[str, Tensor]
    moments: dict[str, Tensor]
    noise: Tensor | None


class Trainee(Protocol):
    """Runs that are trained together, batch by batch.

    The loop, the saved states and the readings after each epoch know only this protocol, so they
    work for networks of any kind.

    Attributes:
        configs: the configuration of each run.
        recipe: the recipe that the runs share.
        seeds: the seeds of the runs, each once; a batch has inputs for each of them.
        dtype: the precision of parameters and inputs.
        device: the device of all tensors.
    """

    configs: Sequence[RunConfig]
    recipe: Recipe
    seeds: Sequence[int]
    dtype: torch.dtype
    device: torch.device | str

    def start_epoch(self, epoch: int, step: int = 0) -> None:
        """Set the learning rate and the random streams of an epoch.

        `step` is the number of steps that are already done, if the epoch is continued.
        """
        ...

    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; return each run's mean loss before the update."""
        ...

    def tensors(self, *, with_moments: bool = True) -> list[RunTensors]:
        """Return the tensors of every run, not copied; moments only if they are asked for."""
        ...

    def have_finite_weights(self) -> Sequence[bool]:
        """Return for each run whether all of its weights are finite."""
        ...

    def restore(self, states: Sequence[RunState], steps: int) -> None:
        """Copy saved states into the runs; `steps` is the number of steps they were trained for.

        Without moments the runs are trained to the end.
        """
        ...

    def continue_noise(self, states: Sequence[Tensor | None]) -> None:
        """Continue the rule's noise of every run from a saved random state."""
        ...

    def sample_scores(self, split: Split, chunk: int) -> Tensor:
        """Return each run's score on each sample, as (runs, samples).

        With one class for each sample the scores are flags: whether the answer is right. The mean
        over all samples is the score of the run. The samples are read in chunks of this size.
        """
        ...

    def norms(self, split: Split, batches: int, batch_size: int) -> Sequence[RunReadings]:
        """Return each run's norms of the stream and its gradients on the first batches."""
        ...
