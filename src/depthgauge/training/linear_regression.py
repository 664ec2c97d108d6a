"""Fit a linear regression to a task's inputs: the R² that is reached without a network."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.losses.scores import RSquared
from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.inputs import as_inputs
from depthgauge.training.linear_classifier import HELD_OUT, MOST_SAMPLES, PENALTIES
from depthgauge.training.linear_model import LinearModel, mean_and_std


class LinearRegression(LinearModel):
    """A regression inputs @ weights + bias on standardised inputs."""

    def scores(self, split: Split, task: Task) -> Tensor:
        """Return a number for each sample of a split; their mean is R²."""
        x = as_inputs(split.x, task, torch.float64).flatten(1).sub(self.mean).div(self.std)
        return RSquared.on(split.y)(x @ self.weights + self.bias, split.y)


def fit_linear_regression(task: Task, *, most_samples: int = MOST_SAMPLES) -> LinearRegression:
    """Fit a regression to a task's training samples, or to `most_samples` of them.

    The penalty on ½·(mean squared distance) is the one with the highest R² on held-out training
    samples. With this penalty, the regression is fitted to all samples.
    """
    order = torch.randperm(len(task.train), generator=torch.Generator().manual_seed(0))
    order = order[:most_samples]
    x = as_inputs(task.train.x[order], task, torch.float64).flatten(1)
    y = task.train.y[order].double()
    mean, std = mean_and_std(x)
    x = (x - mean) / std
    held = max(1, round(HELD_OUT * len(y)))
    tried = []
    for penalty in PENALTIES:
        weights, bias = _solve(x[held:], y[held:], penalty)
        left = float((x[:held] @ weights + bias - y[:held]).square().sum())
        tried.append((left, penalty))
    _, penalty = min(tried)
    return LinearRegression(mean, std, *_solve(x, y, penalty), penalty, len(y))


def _solve(x: Tensor, y: Tensor, penalty: float) -> tuple[Tensor, Tensor]:
    """Return the weights and bias with the least penalised squared error."""
    centre, height = x.mean(0), y.mean(0)
    wide = x - centre
    ridge = penalty * torch.eye(x.shape[1], dtype=x.dtype)
    weights = torch.linalg.solve(wide.T @ wide / len(x) + ridge, wide.T @ (y - height) / len(x))
    return weights, height - centre @ weights
