"""Each sample's own loss, from ours, torch's or a user's function."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from depthgauge.errors import UserError
from depthgauge.nets.sample_loss import cross_entropy, losses_and_error, make_sample_loss

N, T, C = 4, 3, 5
LABELS = torch.tensor([0, 4, 2, 2])
TOKEN_LABELS = torch.tensor([[0, 4, -100], [2, -100, -100], [1, 1, 3], [-100, -100, -100]])


def logits(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def of_one(row: Tensor, label: int) -> float:
    """−log of the label's share."""
    shares = [math.exp(value) for value in row.tolist()]
    return -math.log(shares[label] / math.fsum(shares))


def test_one_label_for_each_sample():
    z = logits(N, C)
    expected = [of_one(row, int(label)) for row, label in zip(z, LABELS, strict=True)]
    assert cross_entropy(z, LABELS).tolist() == pytest.approx(expected, rel=1e-12)


def test_a_label_for_each_token_is_summed_and_some_do_not_count():
    z = logits(N, T, C)
    expected = [
        math.fsum(
            of_one(z[n, t], int(TOKEN_LABELS[n, t])) for t in range(T) if TOKEN_LABELS[n, t] >= 0
        )
        for n in range(N)
    ]
    assert expected[3] == 0
    assert cross_entropy(z, TOKEN_LABELS).tolist() == pytest.approx(expected, rel=1e-12)


def test_a_sample_whose_label_does_not_count():
    z = logits(N, C)
    assert cross_entropy(z, torch.tensor([-100, 1, -100, 2]))[::2].tolist() == [0, 0]


def test_class_numbers_of_any_whole_type():
    for dtype in [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]:
        z = logits(N, C)
        assert torch.equal(cross_entropy(z, LABELS.to(dtype)), cross_entropy(z, LABELS))


def test_labels_out_of_range_are_named():
    for label, span in [(5, "0 to 5"), (-1, "-1 to 4"), (1000, "0 to 1000")]:
        labels = torch.tensor([0, 4, 2, label])
        sentence = (
            rf"^the labels are from {span}, but the network has 5 classes; give labels from 0 to 4$"
        )
        with pytest.raises(UserError, match=sentence):
            cross_entropy(logits(N, C), labels)


def test_labels_that_do_not_fit_are_described():
    for shape, labels in [
        ((N, C), torch.zeros(N, 1, dtype=torch.long)),
        ((N, C), torch.zeros(N + 1, dtype=torch.long)),
        ((N, T, C), torch.zeros(N, dtype=torch.long)),
        ((N, T, C), torch.zeros(T, N, dtype=torch.long)),
        ((N, C), torch.zeros(N, C)),
        ((N, C), torch.zeros(N)),
    ]:
        with pytest.raises(UserError) as raised:
            cross_entropy(logits(*shape), labels)
        assert str(raised.value).startswith(
            f"labels of shape {tuple(labels.shape)} and type torch."
        )
        assert f"logits of shape {shape}; give one class number" in str(raised.value)


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
        assert make_sample_loss(loss)(z, LABELS).tolist() == pytest.approx(expected, rel=1e-12)


def test_a_loss_of_torch_is_not_changed_for_its_owner():
    make_sample_loss(SMOOTHED)
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
        found, _ = losses_and_error(make_sample_loss(loss), z, LABELS)
        assert found.tolist() == pytest.approx(expected, rel=1e-9)


def test_the_cross_entropy_of_torch_takes_labels_per_token():
    """Classes last, as ours; or second, as torch has them, where only that fits the labels."""
    for tokens in [T, C]:
        z, labels = logits(N, tokens, C), torch.arange(N * tokens).view(N, tokens) % C
        ours = cross_entropy(z, labels)
        mean, total = functional.cross_entropy, partial(functional.cross_entropy, reduction="sum")
        torch.testing.assert_close(make_sample_loss(mean)(z, labels), ours / tokens)
        torch.testing.assert_close(make_sample_loss(total)(z, labels), ours)
    z, labels = logits(N, C, T, 2), torch.arange(N * T * 2).view(N, T, 2) % C
    expected = [functional.cross_entropy(a[None], b[None]) for a, b in zip(z, labels, strict=True)]
    torch.testing.assert_close(
        make_sample_loss(nn.CrossEntropyLoss())(z, labels), torch.stack(expected)
    )


def test_regression_has_the_scale_of_torch():
    z, targets = logits(N, C), torch.ones(N, C)
    losses, error = losses_and_error(make_sample_loss(functional.mse_loss), z, targets)
    torch.testing.assert_close(losses, (z - 1).square().mean(1))
    torch.testing.assert_close(error, 2 * (z - 1) / C)
    total = make_sample_loss(nn.MSELoss(reduction="sum"))
    torch.testing.assert_close(total(z, targets), (z - 1).square().sum(1))


def test_a_sample_whose_labels_do_not_count_has_no_loss_where_torch_has_none_either():
    labels = torch.tensor([-100, 1, -100, 2])
    for loss in [nn.CrossEntropyLoss(), SMOOTHED, functional.cross_entropy, nn.NLLLoss()]:
        losses, error = losses_and_error(make_sample_loss(loss), logits(N, C), labels)
        assert (losses != 0).tolist() == error.any(1).tolist() == [False, True, False, True]
    losses, error = losses_and_error(
        make_sample_loss(SMOOTHED), logits(N, C), torch.full((N,), -100)
    )
    assert not losses.any()
    assert not error.any()


def test_a_loss_that_is_no_number_is_named_with_its_sample():
    loss = make_sample_loss(nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0])))
    with pytest.raises(UserError, match=r"^the loss of sample 2 is NaN; give the label −100 to"):
        loss(logits(N, C), LABELS)


def test_a_users_loss_with_one_number_for_each_sample():
    z = logits(N, C)
    assert torch.equal(make_sample_loss(lambda a, b: a[:, 0] * b)(z, LABELS), z[:, 0] * LABELS)
    summed = make_sample_loss(lambda a, b: a * b[:, None])(z, LABELS)
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
            make_sample_loss(loss)(logits(N, C), LABELS)


def test_the_error_is_softmax_less_onehot_in_float64():
    z = logits(N, C).float()
    losses, error = losses_and_error(cross_entropy, z, LABELS)
    assert losses.dtype == error.dtype == torch.float64
    assert not losses.requires_grad
    expected = z.double().softmax(-1)
    expected[torch.arange(N), LABELS] -= 1
    torch.testing.assert_close(error, expected)


def test_tokens_that_do_not_count_have_no_error():
    _, error = losses_and_error(cross_entropy, logits(N, T, C), TOKEN_LABELS)
    assert torch.equal(error.any(-1), TOKEN_LABELS >= 0)


def test_the_error_of_a_confident_answer_keeps_its_direction():
    """With d the lead and one rival, e = (−s, s) and the loss is log(1 + exp(−d)) ≈ s = σ(−d)."""
    for lead in [5.0, 30.0, 40.0, 100.0, 400.0]:
        losses, error = losses_and_error(
            cross_entropy, torch.tensor([[lead, 0.0]]), torch.tensor([0])
        )
        share = 1 / (1 + math.exp(lead))
        assert error.tolist() == [pytest.approx([-share, share], rel=1e-9, abs=0)]
        assert losses.item() == pytest.approx(math.log1p(math.exp(-lead)), rel=1e-9, abs=0)
