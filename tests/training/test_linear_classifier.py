"""The linear classifier has the weights that scikit-learn's slow, converged fit finds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from training.small_images import PIXELS, random_images
from training.small_runs import make_task

from depthgauge.tasks.base import Split, Task
from depthgauge.tasks.digits import load_digits
from depthgauge.tasks.inputs import as_inputs
from depthgauge.training.linear_classifier import (
    PENALTIES,
    LinearClassifier,
    fit_linear_classifier,
    reason_not_fitted,
)


@cache
def digits() -> tuple[Task, LinearClassifier]:
    task = load_digits()
    return task, fit_linear_classifier(task)


def standardised(task: Task) -> tuple[torch.Tensor, torch.Tensor]:
    """Training and evaluation inputs; a feature that never changes is zero."""
    splits = (task.train, task.evaluation)
    train, other = (as_inputs(s.x, task, torch.float64).flatten(1) for s in splits)
    mean, std = train.mean(0), ((train - train.mean(0)) ** 2).mean(0).sqrt()
    std[std == 0] = 1
    return (train - mean) / std, (other - mean) / std


def slowly(x: torch.Tensor, y: torch.Tensor, penalty: float) -> LogisticRegression:
    """Scikit-learn penalises the sum over samples: its C is 1/(λ n)."""
    model = LogisticRegression(C=1 / (penalty * len(y)), tol=1e-10, max_iter=20_000)
    return model.fit(x.numpy(), y.numpy())


def test_weights_are_those_of_scikit_learn():
    task, found = digits()
    x, other = standardised(task)
    slow = slowly(x, task.train.y, found.penalty)
    assert found.weights.T.numpy() == pytest.approx(slow.coef_, abs=1e-5)
    shifted = found.bias.numpy() - found.bias.numpy().mean()
    assert shifted == pytest.approx(slow.intercept_ - slow.intercept_.mean(), abs=1e-5)
    answers = slow.predict(other.numpy()) == task.evaluation.y.numpy()
    assert np.array_equal(found.right_answers(task.evaluation, task), answers)


def test_no_step_makes_the_loss_smaller():
    """The gradient by autograd, of the loss as it is defined, is zero."""
    task, found = digits()
    x, _ = standardised(task)
    weights, bias = (t.clone().requires_grad_() for t in (found.weights, found.bias))
    loss = torch.nn.functional.cross_entropy(x @ weights + bias, task.train.y)
    (loss + found.penalty / 2 * weights.square().sum()).backward()
    assert max(float(weights.grad.abs().max()), float(bias.grad.abs().max())) < 1e-7


def test_the_penalty_names_most_held_out_samples_rightly():
    task, found = digits()
    x, _ = standardised(task)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    held, kept = order[: round(0.1 * len(x))], order[round(0.1 * len(x)) :]
    accuracies = {
        penalty: slowly(x[kept], task.train.y[kept], penalty).score(
            x[held].numpy(), task.train.y[held].numpy()
        )
        for penalty in PENALTIES[:8]
    }
    assert found.penalty == max(accuracies, key=lambda penalty: accuracies[penalty])
    assert found.penalty not in (PENALTIES[0], PENALTIES[7])


def test_it_is_the_same_bit_for_bit_each_time():
    task, found = digits()
    again = fit_linear_classifier(task)
    assert torch.equal(again.weights, found.weights)
    assert torch.equal(again.bias, found.bias)


def test_a_large_task_is_fitted_in_float32_to_the_same():
    task, found = digits()
    single = fit_linear_classifier(task, exact=0)
    assert single.mean.dtype == torch.float32
    assert single.penalty == found.penalty
    assert single.weights.numpy() == pytest.approx(found.weights.numpy(), abs=1e-3)


def test_of_very_many_samples_some_are_drawn():
    task, whole = digits()
    found = fit_linear_classifier(task, most_samples=300)
    accuracy, of_whole = (one.right_answers(task.evaluation, task).mean() for one in (found, whole))
    assert found.samples == 300
    assert 0.85 < accuracy < of_whole


def test_a_task_that_is_linear_is_solved_and_one_that_is_not_is_not():
    linear = make_task(samples=600)
    assert fit_linear_classifier(linear).right_answers(linear.evaluation, linear).mean() > 0.9
    x = torch.randn(600, 2, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] * x[:, 1] > 0).long()
    crossed = Task("xor", Split(x[:400], y[:400]), Split(x[400:], y[400:]), 2)
    assert fit_linear_classifier(crossed).right_answers(crossed.evaluation, crossed).mean() < 0.65


def test_features_that_never_change_or_are_copies_do_no_harm():
    task = make_task(samples=600)
    constant, copied = torch.ones(len(task.train), 1), task.train.x[:, :1]
    train = replace(task.train, x=torch.cat([task.train.x, constant, copied], 1))
    other = task.evaluation
    evaluation = replace(
        other, x=torch.cat([other.x, torch.ones(len(other), 1), other.x[:, :1]], 1)
    )
    wider = replace(task, train=train, evaluation=evaluation)
    found = fit_linear_classifier(wider)
    assert found.right_answers(evaluation, wider).mean() > 0.9
    assert float(found.weights[-2].abs().max()) < 1e-9


def test_images_are_standardised_pixel_by_pixel():
    images, labels = random_images(60), torch.arange(60) % 5
    task = Task("images", Split(images, labels), Split(images, labels), 5, PIXELS)
    found = fit_linear_classifier(task)
    x, _ = standardised(task)
    slow = slowly(x, labels, found.penalty)
    assert found.weights.T.numpy() == pytest.approx(slow.coef_, abs=1e-4)


def test_where_it_makes_no_sense_a_reason_is_said():
    task = make_task()
    assert reason_not_fitted(task) == ""
    one = replace(task, train=replace(task.train, y=torch.zeros_like(task.train.y)))
    assert reason_not_fitted(one) == "n/a: all training samples have one class"
    reason = reason_not_fitted(task, most_features=11)
    assert reason == "n/a: inputs have 12 features, more than 11"


def token_task(*, each: bool) -> Task:
    """Three tokens; the answer is the middle token, or of each token the token plus one."""
    x = torch.randint(4, (600, 3), generator=torch.Generator().manual_seed(0))
    y = (x + 1) % 4 if each else x[:, 1]
    if each:
        y = y.where(torch.tensor([True, False, True]), -100)
    return Task("tokens", Split(x[:400], y[:400]), Split(x[400:], y[400:]), 4)


def test_of_tokens_with_one_answer_the_classifier_sees_each_token_at_its_position():
    task = token_task(each=False)
    found = fit_linear_classifier(task)
    assert found.weights.shape == (3 * 4, 4)
    assert found.samples == 400
    assert found.right_answers(task.evaluation, task).all()
    x = torch.nn.functional.one_hot(task.train.x, 4).flatten(1).double()
    slow = slowly((x - x.mean(0)) / x.std(0, correction=0), task.train.y, found.penalty)
    assert found.weights.T.numpy() == pytest.approx(slow.coef_, abs=1e-5)


def test_where_tokens_have_answers_the_classifier_sees_the_token_itself_and_counts_those_alone():
    task = token_task(each=True)
    found = fit_linear_classifier(task)
    assert found.weights.shape == (4, 4)
    assert found.samples == 2 * 400
    shares = found.right_answers(task.evaluation, task)
    assert shares.tolist() == [1.0] * 200
    wrong = replace(task.evaluation, y=task.evaluation.y.roll(1, 0))
    expected = (wrong.y == (task.evaluation.x + 1) % 4).sum(1).double() / 2
    assert np.array_equal(found.right_answers(wrong, task), expected.numpy())


def test_a_sample_without_an_answer_does_not_count():
    task = token_task(each=True)
    y = task.evaluation.y.clone()
    y[0] = -100
    found = fit_linear_classifier(task)
    assert len(found.right_answers(replace(task.evaluation, y=y), task)) == 199
