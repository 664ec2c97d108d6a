"""Fit a linear classifier to a task's inputs, to find the accuracy that needs no network."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from depthgauge.tasks.base import Split, Task
from depthgauge.training.classifier_rows import Rows, count_features
from depthgauge.training.linear_model import LinearModel, mean_and_std

MOST_SAMPLES, MOST_FEATURES = 50_000, 4096
"""The most samples that a fit uses, and the most features for which a classifier is fitted.

With these limits a fit takes about a minute at most.
"""

HELD_OUT = 0.1
"""The share of training samples that is held out to choose the penalty."""

PENALTIES = tuple(math.sqrt(10) ** -step for step in range(13))
"""Candidates for λ, from 1 to 1e-6, for the mean loss on standardised inputs."""

PATIENCE = 2
"""The search for λ ends when this many penalties in a row do not improve the accuracy."""

EXACT = 2**24
"""Inputs with at most this many numbers are fitted in float64, larger inputs in float32."""

CONVERGED = {
    torch.float64: {"gtol": 1e-8, "ftol": 0.0},
    torch.float32: {"gtol": 1e-5, "ftol": 1e-12},
}
"""A fit ends when no derivative exceeds gtol, or a step lowers the loss by less than ftol·loss."""

Array = NDArray[np.float64]


class LinearClassifier(LinearModel):
    """A classifier softmax(inputs @ weights + bias) on standardised inputs."""

    def right_answers(self, split: Split, task: Task) -> NDArray[np.bool_] | NDArray[np.float64]:
        """Return for each sample of a split whether the classifier answers it correctly.

        Where tokens have labels, it is the share of the sample's tokens that are answered
        correctly; samples without a label are left out.
        """
        rows = Rows.of(split, task)
        x = rows.features(self.mean.dtype).sub(self.mean).div(self.std)
        answers = _logits(x, self.weights, self.bias).argmax(1)
        return rows.shares(answers == rows.labels)


def reason_not_fitted(task: Task, most_features: int = MOST_FEATURES) -> str:
    """Return why no linear classifier is fitted for a task; "" if one can be fitted."""
    features = task.input_dim if task.is_regression else count_features(task)
    if features > most_features:
        return f"n/a: inputs have {features:,} features, more than {most_features:,}"
    if not task.is_regression and len(torch.unique(Rows.of(task.train, task).labels)) < 2:  # noqa: PLR2004
        return "n/a: all training samples have one class"
    return ""


def fit_linear_classifier(
    task: Task, *, most_samples: int = MOST_SAMPLES, exact: int = EXACT
) -> LinearClassifier:
    """Fit a linear classifier to a task's training samples, or to `most_samples` of them.

    Where tokens have labels of their own, each token counts as a sample (see `Rows`).

    Penalties are tried from the strongest to the weakest, until two in a row are no better on
    held-out training samples. With the best penalty, the classifier is fitted again, also to the
    samples that were held out. Inputs with more than `exact` numbers are fitted in float32.
    """
    rows, features = Rows.of(task.train, task), count_features(task)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    rows = rows.chosen(order[:most_samples])
    dtype = torch.float64 if len(rows) * features <= exact else torch.float32
    x, y = rows.features(dtype), rows.labels
    mean, std = mean_and_std(x)
    x.sub_(mean).div_(std)
    held = max(1, round(HELD_OUT * len(y)))
    fitted = _Fit(x[held:], y[held:], task.num_classes)
    solution = torch.zeros(features + 1, task.num_classes, dtype=torch.float64)
    best, no_better = (-1.0, 0.0, solution), 0
    for penalty in PENALTIES:
        solution = fitted.minimise(penalty, solution)
        answers = _logits(x[:held], solution[:-1], solution[-1]).argmax(1)
        accuracy = float((answers == y[:held]).double().mean())
        no_better = 0 if accuracy > best[0] else no_better + 1
        best = max(best, (accuracy, penalty, solution), key=lambda trial: trial[0])
        if no_better == PATIENCE:
            break
    _, penalty, start = best
    whole = _Fit(x, y, task.num_classes, fitted.covariance)
    solution = whole.minimise(penalty, start)
    return LinearClassifier(mean, std, solution[:-1], solution[-1], penalty, len(y))


def _logits(x: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    return (x @ weights.to(x.dtype)).double() + bias


class _Fit:
    """Penalised multinomial logistic regression on standardised inputs.

    L-BFGS does not work on the weights w, but on v = Cᵀw. C is a Cholesky factor: CCᵀ is the
    Hessian of the loss at w = 0, which is covariance/classes + λ with the penalty λ. On v, L-BFGS
    needs about twenty steps, even if features are strongly correlated.
    """

    def __init__(self, x: Tensor, y: Tensor, classes: int, covariance: Tensor | None = None):
        self._x, self._y, self._classes = x, y, classes
        self._wanted = torch.nn.functional.one_hot(y, classes).double()
        self.covariance = (x.T @ x / len(x)).double() if covariance is None else covariance

    def minimise(self, penalty: float, start: Tensor) -> Tensor:
        """Return weights and bias with the least penalised loss; the bias is the last row."""
        ridge = penalty * torch.eye(len(self.covariance), dtype=torch.float64)
        factor = torch.linalg.cholesky(self.covariance / self._classes + ridge)

        def unscaled(v: Tensor) -> Tensor:
            weights = torch.linalg.solve_triangular(factor.T, v[:-1], upper=True)
            return torch.cat([weights, v[-1:]])

        def loss_and_slope(flat: Array) -> tuple[float, Array]:
            loss, slope = self._loss(unscaled(torch.from_numpy(flat).view_as(start)), penalty)
            scaled = torch.linalg.solve_triangular(factor, slope[:-1], upper=False)
            return loss, torch.cat([scaled, slope[-1:]]).flatten().numpy()

        found = minimize(
            loss_and_slope,
            torch.cat([factor.T @ start[:-1], start[-1:]]).flatten().numpy(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1000, "maxcor": 20, **CONVERGED[self._x.dtype]},
        )
        return unscaled(torch.from_numpy(found.x).view_as(start))

    def _loss(self, solution: Tensor, penalty: float) -> tuple[float, Tensor]:
        """Return the mean cross-entropy plus λ/2 · ‖weights‖², and its gradient."""
        weights, bias = solution[:-1], solution[-1]
        logits = _logits(self._x, weights, bias)
        total = logits.logsumexp(1, keepdim=True)
        losses = total.squeeze(1) - logits.gather(1, self._y[:, None]).squeeze(1)
        error = ((logits - total).exp() - self._wanted) / len(self._y)
        slope = (error.T.to(self._x.dtype) @ self._x).T.double() + penalty * weights
        loss = losses.mean() + penalty / 2 * weights.square().sum()
        return float(loss), torch.cat([slope, error.sum(0, keepdim=True)])
