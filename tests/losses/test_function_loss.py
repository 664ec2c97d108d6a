"""Each sample's own loss, from torch's or a user's function."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from depthgauge.errors import UserError
from depthgauge.losses.contract import Loss
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.function_loss import as_loss

cross_entropy = CrossEntropy().value


def losses_and_error(loss: Loss, z: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """As `StreamReader.see` reads them."""
    return loss.value(z.double(), labels), loss.error(z.double(), labels)


N, T, C = 4, 3, 5
LABELS = torch.tensor([0, 4, 2, 2])


def logits(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def of_one(row: Tensor, label: int) -> float:
    """−log of the label's share."""
    shares = [math.exp(value) for value in row.tolist()]
    return -math.log(shares[label] / math.fsum(shares))


SMOOTHED = nn.CrossEntropyLoss(label_smoothing=0.1)


def test_the_batch_does_not_come_into_a_loss_of_torch():
    for loss, smoothing in [
        (functional.cross_entropy, 0.0),
        (nn.CrossEntropyLoss(), 0.0),
        (nn.CrossEntropyLoss(reduction="sum"), 0.0),
        (SMOOTHED, 0.1),
        (partial(functional.cross_entropy, label_smoothing=0.1), 0.1),
        (cross_entropy, 0.0),
    ]:
        z = logits(N, C)
        expected = [
            (1 - smoothing) * of_one(row, int(label))
            + smoothing / C * math.fsum(of_one(row, other) for other in range(C))
            for row, label in zip(z, LABELS, strict=True)
        ]
        assert as_loss(loss).value(z, LABELS).tolist() == pytest.approx(expected, rel=1e-12)


def test_a_loss_of_torch_is_not_changed_for_its_owner():
    as_loss(SMOOTHED)
    assert SMOOTHED.reduction == "mean"
    assert SMOOTHED(logits(N, C), LABELS).dim() == 0


def test_the_weight_of_a_class_cancels_in_the_mean_of_one_sample_and_counts_in_a_sum():
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    z = logits(N, C)
    own = [of_one(row, int(label)) for row, label in zip(z, LABELS, strict=True)]
    for reduction, expected in [
        ("mean", own),
        ("sum", [float(weight[label]) * one for label, one in zip(LABELS, own, strict=True)]),
    ]:
        loss = nn.CrossEntropyLoss(weight=weight, reduction=reduction)
        found, _ = losses_and_error(as_loss(loss), z, LABELS)
        assert found.tolist() == pytest.approx(expected, rel=1e-9)


def test_the_cross_entropy_of_torch_takes_labels_per_token():
    """Classes last, as ours; or second, as torch has them, where only that fits the labels."""
    for tokens in [T, C]:
        z, labels = logits(N, tokens, C), torch.arange(N * tokens).view(N, tokens) % C
        ours = cross_entropy(z, labels)
        mean, total = functional.cross_entropy, partial(functional.cross_entropy, reduction="sum")
        torch.testing.assert_close(as_loss(mean).value(z, labels), ours / tokens)
        torch.testing.assert_close(as_loss(total).value(z, labels), ours)
    z, labels = logits(N, C, T, 2), torch.arange(N * T * 2).view(N, T, 2) % C
    expected = [functional.cross_entropy(a[None], b[None]) for a, b in zip(z, labels, strict=True)]
    torch.testing.assert_close(
        as_loss(nn.CrossEntropyLoss()).value(z, labels), torch.stack(expected)
    )


def test_regression_has_the_scale_of_torch():
    z, targets = logits(N, C), torch.ones(N, C)
    losses, error = losses_and_error(as_loss(functional.mse_loss), z, targets)
    torch.testing.assert_close(losses, (z - 1).square().mean(1))
    torch.testing.assert_close(error, 2 * (z - 1) / C)
    total = as_loss(nn.MSELoss(reduction="sum"))
    torch.testing.assert_close(total.value(z, targets), (z - 1).square().sum(1))


def test_a_sample_whose_labels_do_not_count_has_no_loss_where_torch_has_none_either():
    labels = torch.tensor([-100, 1, -100, 2])
    for loss in [nn.CrossEntropyLoss(), SMOOTHED, functional.cross_entropy, nn.NLLLoss()]:
        losses, error = losses_and_error(as_loss(loss), logits(N, C), labels)
        assert (losses != 0).tolist() == error.any(1).tolist() == [False, True, False, True]
    losses, error = losses_and_error(as_loss(SMOOTHED), logits(N, C), torch.full((N,), -100))
    assert not losses.any()
    assert not error.any()


def test_a_loss_that_is_no_number_is_named_with_its_sample():
    loss = as_loss(nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0])))
    with pytest.raises(UserError, match=r"^the loss of sample 2 is NaN; give the label −100 to"):
        loss.value(logits(N, C), LABELS)


def test_a_users_loss_with_one_number_for_each_sample():
    z = logits(N, C)
    assert torch.equal(as_loss(lambda a, b: a[:, 0] * b).value(z, LABELS), z[:, 0] * LABELS)
    summed = as_loss(lambda a, b: a * b[:, None]).value(z, LABELS)
    torch.testing.assert_close(summed, z.sum(1) * LABELS)


class Mean(nn.Module):
    def forward(self, z: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(z, labels)


def test_a_loss_with_one_number_for_the_batch_is_refused():
    for loss, shape in [
        (Mean(), r"\(\)"),
        (lambda z, y: functional.cross_entropy(z, target=y), r"\(\)"),
        (lambda z, y: functional.cross_entropy(z, y).view(1), r"\(1,\)"),
        (lambda z, y: functional.cross_entropy(z, y).item(), ""),
    ]:
        with pytest.raises(UserError, match=f"^the loss returned the shape .*{shape}"):
            as_loss(loss).value(logits(N, C), LABELS)
