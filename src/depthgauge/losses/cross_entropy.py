"""Cross-entropy of one class number for each sample, or for each token."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, softplus

from depthgauge.losses.checks import check_classes
from depthgauge.losses.contract import Loss, in_full_precision
from depthgauge.losses.labels import IGNORED

SAME_AS_LINEAR = 40
"""From this x on, softplus(x) = x in float64."""


class CrossEntropy(Loss):
    """Cross-entropy of logits, whose last axis has the classes.

    With one label per token, labels are (samples, tokens) and logits (samples, tokens, classes). A
    sample's loss is the sum over its tokens. Labels of −100 do not count.
    """

    name = "cross_entropy"
    summary = "−log softmax(output) of the label, summed over the labels of a sample"

    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of each sample.

            loss = softplus(logsumexp over the other classes c of z_c − z_own)

        The gradient of this form is exact for confident samples too; the usual p_own − 1 would
        round to zero.
        """
        output = in_full_precision(output)
        counted, own = _own_class(target)
        others = (output - output.gather(-1, own)).scatter(-1, own, -torch.inf)
        losses = softplus(others.logsumexp(-1), threshold=SAME_AS_LINEAR).where(counted, 0.0)
        return losses.flatten(1).sum(1) if losses.dim() > 1 else losses

    def error(self, output: Tensor, target: Tensor) -> Tensor:
        """Return e = softmax(output) − onehot(target), without cancellation.

        The entry of the own class, p − 1, would round to zero for a confident sample. So it is
        computed as minus the sum of the other entries.
        """
        counted, own = _own_class(target)
        others = torch.softmax(in_full_precision(output), -1).scatter(-1, own, 0.0)
        error = others.scatter(-1, own, -others.sum(-1, keepdim=True))
        return error.where(counted.unsqueeze(-1), 0.0).to(output.dtype)

    def value_and_error(self, output: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return value and error by one softmax, for training.

        This takes about half the time of `value` and `error`. The error of a confident sample
        rounds to zero in the precision of the output.
        """
        if type(self) is not CrossEntropy:  # a user's loss, with a value or error of its own
            return super().value_and_error(output, target)
        log_p = torch.log_softmax(in_full_precision(output), -1)
        counted, own = _own_class(target)
        losses = -log_p.gather(-1, own).squeeze(-1)
        error = log_p.exp().scatter_add_(-1, own, torch.full_like(losses, -1.0).unsqueeze(-1))
        error, losses = error.where(counted.unsqueeze(-1), 0.0), losses.where(counted, 0.0)
        return losses.flatten(1).sum(1) if losses.dim() > 1 else losses, error.to(output.dtype)

    def mean(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the loss that a batch is trained on, by torch's fused function."""
        if type(self) is not CrossEntropy:
            return super().mean(output, target)
        output, labels = in_full_precision(output), target.flatten().long()
        total = cross_entropy(output.flatten(0, -2), labels, reduction="sum", ignore_index=IGNORED)
        return total / self.labels(target).sum().clamp(min=1)

    def check(self, shape: Sequence[int], target: Tensor) -> None:
        """Refuse targets that are no class numbers for outputs of this shape."""
        check_classes(shape, target)


def _own_class(target: Tensor) -> tuple[Tensor, Tensor]:
    """Return which labels count, and the class of each as an index; 0 where it does not count."""
    counted = target != IGNORED
    return counted, target.long().where(counted, 0).unsqueeze(-1)
