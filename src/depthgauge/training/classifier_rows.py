"""Turn the samples of a task into rows of features, which a linear classifier can answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from depthgauge.losses.labels import IGNORED
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import as_inputs

VECTORS = 2
"""The number of axes of samples without positions."""


@dataclass(frozen=True)
class Rows:
    """The rows of a split: one for each sample, or one for each token that has a label.

    - A sample with one label gives all its features. Tokens are one-hot at each position.
    - A token with a label of its own gives the features of its own position: the token, one-hot.

    Attributes:
        split: the samples.
        task: the task that the split belongs to.
        places: for each row the number of its sample; for tokens a second column, the position.
    """

    split: Split
    task: Task
    places: Tensor

    @classmethod
    def of(cls, split: Split, task: Task) -> Rows:
        """Return the rows of a split."""
        if split.y.dim() == 1:
            return cls(split, task, torch.arange(len(split)).unsqueeze(1))
        return cls(split, task, (split.y != IGNORED).nonzero())

    def __len__(self) -> int:
        return len(self.places)

    def chosen(self, rows: Tensor) -> Rows:
        """Return some of the rows, in this order."""
        return Rows(self.split, self.task, self.places[rows])

    @property
    def labels(self) -> Tensor:
        """The class of each row."""
        return self.split.y[tuple(self.places.T)]

    def features(self, dtype: torch.dtype) -> Tensor:
        """Return the features of each row."""
        stored = self.split.x[tuple(self.places.T)]
        x = as_inputs(stored, self.task, dtype) if self.places.shape[1] == 1 else stored
        if self.task.symbols is not None:
            x = one_hot(x, self.task.symbols).to(dtype)
        return x.to(dtype).flatten(1)

    def shares(self, right: Tensor) -> NDArray[np.bool_] | NDArray[np.float64]:
        """Return for each sample whether its row is right, or the share of its rows that are."""
        if self.places.shape[1] == 1:
            is_right: NDArray[np.bool_] = right.numpy()
            return is_right
        samples, one = self.places[:, 0], torch.ones(len(self), dtype=torch.float64)
        total = torch.zeros(len(self.split), dtype=torch.float64)
        counts = total.index_add(0, samples, one)
        found = total.index_add(0, samples, right.double()) / counts.clamp(min=1)
        shares: NDArray[np.float64] = found[counts > 0].numpy()
        return shares


def count_features(task: Task) -> int:
    """Return the number of features of a row."""
    shape = task.train.x.shape[1:] if task.train.y.dim() == 1 else task.train.x.shape[VECTORS:]
    symbols = 1 if task.symbols is None else task.symbols
    return int(torch.Size(shape).numel()) * symbols
