"""The linear floor of a regression."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from depthgauge.auditing.linear_floor import fit_linear_floor
from depthgauge.store.result_file import unpack_answers
from depthgauge.tasks.base import Split, Task
from depthgauge.training.linear_regression import fit_linear_regression


def make_task(noise: float = 0.5, samples: int = 400) -> Task:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(samples, 6, generator=generator) * torch.arange(1, 7)
    x[:, 2] = 4.0
    weights = torch.randn(6, 2, generator=generator)
    y = x @ weights + noise * torch.randn(samples, 2, generator=generator) + 3
    half = samples // 2
    train, evaluation = Split(x[:half], y[:half]), Split(x[half:], y[half:])
    return Task("line", train, evaluation, 2, loss="squared_error")


def test_weights_are_those_of_scikit_learn():
    task = make_task()
    found = fit_linear_regression(task)
    x = ((task.train.x.double() - found.mean) / found.std).numpy()
    ridge = Ridge(alpha=found.penalty * len(x)).fit(x, task.train.y.double().numpy())
    assert np.allclose(ridge.coef_.T, found.weights, atol=1e-10)
    assert np.allclose(ridge.intercept_, found.bias, atol=1e-10)


def test_the_floor_is_r_squared_on_the_evaluation_samples():
    task = make_task()
    floor = fit_linear_floor(task)
    found = fit_linear_regression(task)
    x = (task.evaluation.x.double() - found.mean) / found.std
    left = (x @ found.weights + found.bias - task.evaluation.y).square().sum()
    whole = (task.evaluation.y.double() - task.evaluation.y.double().mean(0)).square().sum()
    assert floor.accuracy == pytest.approx(1 - float(left / whole), rel=1e-6)
    assert floor.right is not None
    assert unpack_answers(floor.right).mean() == pytest.approx(floor.accuracy, rel=1e-6)


def test_without_noise_a_line_explains_everything():
    assert fit_linear_floor(make_task(noise=0)).accuracy == pytest.approx(1, abs=1e-6)
