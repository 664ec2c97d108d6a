"""Cross-entropy and squared error: value, error and score, held to autograd and to plain sums."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from depthgauge.errors import UserError
from depthgauge.losses.contract import Loss
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.of_runs import value_and_error_of_runs
from depthgauge.losses.registry import find_loss
from depthgauge.losses.squared_error import SquaredError

N, T, C = 4, 3, 5
CLASSES = torch.tensor([0, 4, 2, 2])
SOME = torch.tensor([-100, 1, -100, 2])
TOKENS = torch.tensor([[0, 4, -100], [2, -100, -100], [1, 1, 3], [-100, -100, -100]])


def numbers(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(*shape, generator=generator, dtype=torch.float64)


CASES = {
    "classes": (CrossEntropy(), numbers(N, C), CLASSES),
    "some classes": (CrossEntropy(), numbers(N, C), SOME),
    "tokens": (CrossEntropy(), numbers(N, T, C), TOKENS),
    "one-hot": (SquaredError(), numbers(N, C), CLASSES),
    "some one-hot": (SquaredError(), numbers(N, C), SOME),
    "one-hot tokens": (SquaredError(), numbers(N, T, C), TOKENS),
    "real": (SquaredError(), numbers(N, C), numbers(N, C, seed=1)),
    "real at positions": (SquaredError(), numbers(N, T, C), numbers(N, T, C, seed=1)),
}


def slow_value(loss: Loss, output: Tensor, target: Tensor) -> Tensor:
    """One label after the other, by the textbook formula."""
    if target.is_floating_point():
        return torch.stack(
            [0.5 * (o - t).square().sum() for o, t in zip(output, target, strict=True)]
        )
    values = []
    for of_sample, labels in zip(output.view(N, -1, C), target.view(N, -1), strict=True):
        value = of_sample.sum() * 0
        for z, y in zip(of_sample, labels.tolist(), strict=True):
            if y == -100:
                continue
            if isinstance(loss, CrossEntropy):
                value = value - z.log_softmax(0)[y]
            else:
                wanted = torch.tensor([float(c == y) for c in range(C)], dtype=torch.float64)
                value = value + 0.5 * (z - wanted).square().sum()
        values.append(value)
    return torch.stack(values)


@pytest.mark.parametrize("case", CASES)
def test_value_and_error_are_those_of_autograd(case: str):
    loss, output, target = CASES[case]
    leaf = output.clone().requires_grad_()
    expected = slow_value(loss, leaf, target)
    (error,) = torch.autograd.grad(expected.sum(), leaf)
    for value, found in [
        (loss.value(output, target), loss.error(output, target)),
        loss.value_and_error(output, target),
        (loss.value(output, target), Loss.error(loss, output, target)),
    ]:
        torch.testing.assert_close(value, expected.detach(), rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(found, error, rtol=1e-12, atol=1e-14)
    (through_value,) = torch.autograd.grad(loss.value(leaf, target).sum(), leaf)
    torch.testing.assert_close(through_value, error, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("case", CASES)
def test_a_rule_can_differentiate_a_loss_for_many_runs_at_once(case: str):
    loss, output, target = CASES[case]
    runs = torch.stack([output, 2 * output])
    targets = torch.stack([target, target.flip(0)])

    def total(output: Tensor, target: Tensor) -> Tensor:
        return loss.value(output, target).sum()

    found = torch.func.vmap(torch.func.grad(total))(runs, targets)
    value, error = value_and_error_of_runs(loss, runs, targets)
    for run in range(2):
        expected = loss.error(runs[run], targets[run])
        torch.testing.assert_close(found[run], expected, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(error[run], expected, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(value[run], loss.value(runs[run], targets[run]))


def test_a_batch_is_trained_on_the_mean_over_its_labels():
    output = numbers(N, T, C)
    usual = functional.cross_entropy(output.flatten(0, 1), TOKENS.flatten())
    torch.testing.assert_close(CrossEntropy().mean(output, TOKENS), usual)
    assert CrossEntropy().labels(TOKENS).tolist() == [2, 1, 3, 0]
    assert SquaredError().labels(numbers(N, C)).tolist() == [1] * N
    assert SquaredError().labels(numbers(N, T, C)).tolist() == [T] * N
    assert CrossEntropy().mean(output, torch.full((N, T), -100)).item() == 0


def test_class_numbers_of_any_whole_type():
    for loss in (CrossEntropy(), SquaredError()):
        for dtype in [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]:
            given = loss.value(numbers(N, C), CLASSES.to(dtype))
            assert torch.equal(given, loss.value(numbers(N, C), CLASSES))


def test_the_error_of_a_confident_sample_does_not_round_to_zero():
    for lead in [20.0, 45.0, 300.0]:
        output = torch.tensor([[lead, 0.0]], dtype=torch.float64)
        error = CrossEntropy().error(output, torch.tensor([0]))
        expected = math.exp(-lead) / (1 + math.exp(-lead))
        assert error[0].tolist() == pytest.approx([-expected, expected], rel=1e-12)


def test_outputs_of_16_bits_are_compared_in_float32():
    for loss in (CrossEntropy(), SquaredError()):
        value = loss.value(numbers(N, C).bfloat16(), CLASSES)
        assert value.dtype == torch.float32
        assert loss.error(numbers(N, C).bfloat16(), CLASSES).dtype == torch.bfloat16


# Scores


def test_accuracy_is_the_share_of_labels():
    score = CrossEntropy().score(CLASSES)
    assert (score.name, score.chance) == ("accuracy", 0.5)
    output = torch.eye(C)[[0, 1, 2, 2]]
    assert score(output, CLASSES).tolist() == [True, False, True, True]


def test_token_accuracy_is_the_share_of_tokens_that_count():
    score = CrossEntropy().score(TOKENS)
    assert score.chance == pytest.approx(2 / 6)
    answers = torch.tensor([[0, 0, 1], [2, 0, 0], [1, 1, 0], [0, 0, 0]])
    found = score(torch.eye(C)[answers], TOKENS)
    assert float(found.mean()) == pytest.approx(4 / 6)
    assert found[3] == 0


def test_r_squared_is_one_less_the_share_of_variance_left():
    target, output = numbers(50, 3, seed=1), numbers(50, 3, seed=2)
    score = SquaredError().score(target)
    assert (score.name, score.chance) == ("R²", 0.0)
    left = ((output - target) ** 2).sum() / ((target - target.mean(0)) ** 2).sum()
    assert float(score(output, target).mean()) == pytest.approx(1 - float(left), rel=1e-12)
    assert float(score(target, target).mean()) == 1
    mean = target.mean(0).expand_as(target)
    assert float(score(mean, target).mean()) == pytest.approx(0, abs=1e-12)


def test_a_score_needs_labels_and_targets_that_differ():
    with pytest.raises(UserError, match=r"^no label of the evaluation samples counts"):
        CrossEntropy().score(torch.full((3,), -100))
    with pytest.raises(UserError, match=r"^all targets of the evaluation samples are the same"):
        SquaredError().score(torch.ones(3, 2))


# Bad input


@pytest.mark.parametrize(
    ("loss", "shape", "target", "sentence"),
    [
        ("cross_entropy", (N, C), numbers(N, C), r"^the targets are of type torch.float64, but "),
        ("cross_entropy", (N, C), TOKENS, r"they name a class for each token, but the network has"),
        ("squared_error", (N, C), TOKENS, r"they name a class for each token, but the network has"),
        ("cross_entropy", (N, T, C), CLASSES, r"has an output for each token; give one class"),
        ("cross_entropy", (N, C), CLASSES[:2], r"^labels of shape \(2,\) do not fit logits of"),
        ("cross_entropy", (N, T, C), TOKENS.T, r"^labels of shape \(3, 4\) do not fit logits"),
        ("cross_entropy", (N, C), CLASSES + 1, r"^the labels are from 1 to 5, but the network has"),
        ("cross_entropy", (N, C), CLASSES - 1, r"5 classes; give labels from 0 to 4$"),
        ("squared_error", (N, C), CLASSES + 1, r"^the labels are from 1 to 5, but the network has"),
        ("squared_error", (N, C), numbers(N), r"^targets of shape \(4,\) do not fit outputs of"),
        ("squared_error", (N, C), numbers(N, C) / 0, r"NaN or infinite; remove those samples$"),
    ],
)
def test_targets_that_do_not_fit_get_one_sentence(loss, shape, target, sentence):
    with pytest.raises(UserError, match=sentence) as raised:
        find_loss(loss).check(shape, target)
    assert "\n" not in str(raised.value)


OWN = """
from depthgauge.losses.contract import Loss

class Absolute(Loss):
    name = "absolute"
    summary = "the sum of absolute differences"

    def value(self, output, target):
        return (output - target).abs().flatten(1).sum(1)

class Nothing(Loss):
    name, summary = "nothing", "no value"

class Nameless(Loss):
    def value(self, output, target):
        return output.sum(1)

class Number:
    pass

from depthgauge.losses.cross_entropy import CrossEntropy

class Half(CrossEntropy):
    name, summary = "half", "half the cross-entropy"

    def value(self, output, target):
        return super().value(output, target) / 2

class Doubled(CrossEntropy):
    name, summary = "doubled", "twice the cross-entropy"

    def value(self, output, target):
        return 2 * super().value(output, target)

    def error(self, output, target):
        return 2 * super().error(output, target)
"""


def test_a_users_own_loss_gets_error_and_score(tmp_path: Path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    loss = find_loss(f"{path}:Absolute")
    output, target = numbers(N, C), numbers(N, C, seed=1)
    torch.testing.assert_close(loss.error(output, target), (output - target).sign())
    assert loss.score(target).name == "R²"


def test_value_and_error_of_a_loss_that_changes_another_are_its_own(tmp_path: Path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    loss, output = find_loss(f"{path}:Doubled"), numbers(N, C)
    value, error = loss.value_and_error(output, CLASSES)
    torch.testing.assert_close(value, 2 * CrossEntropy().value(output, CLASSES))
    torch.testing.assert_close(error, 2 * CrossEntropy().error(output, CLASSES))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Nothing", "does not define `value`; write that method"),
        ("Nameless", "has no `name`; set the attribute to a string"),
        ("Number", "is not a loss: it must be a subclass of depthgauge.Loss"),
        ("Half", "a `value` of its own, but the `error` of CrossEntropy; write `error` too"),
        ("Missing", "has no class or function Missing; check the name"),
    ],
)
def test_a_class_that_is_no_loss_is_refused(tmp_path: Path, name: str, sentence: str):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    with pytest.raises(UserError, match=sentence):
        find_loss(f"{path}:{name}")


def test_an_unknown_loss_is_named_with_those_there_are():
    with pytest.raises(UserError, match=r"^there is no loss called 'hinge'; there are: cross_en"):
        find_loss("hinge")
