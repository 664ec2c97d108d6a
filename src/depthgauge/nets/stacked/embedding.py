"""The embeddings of many runs; runs with the same samples share one matrix product."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.nets.stacked.products import FULL_PRECISION, Products


class StackedEmbedding:
    """One Linear(input → d) for each run; runs of one group share their input batch.

    The weights of a group are adjacent in memory, (runs of the group · d, input), so a group costs
    one large matrix product instead of one small product for each run.

    Args:
        weights: (runs, d, input).
        biases: (runs, d).
        groups: for each run, the index of its input batch: 0, 1, ….
        products: how matrices are multiplied.
    """

    def __init__(
        self,
        weights: Tensor,
        biases: Tensor,
        groups: Sequence[int],
        products: Products = FULL_PRECISION,
    ) -> None:
        self._products = products
        runs_of_group = [
            [run for run, own in enumerate(groups) if own == group]
            for group in range(max(groups) + 1)
        ]
        self._members = [_index(runs, weights.device) for runs in runs_of_group]
        order = [run for runs in runs_of_group for run in runs]
        self.position = [order.index(run) for run in range(len(order))]
        index = torch.tensor(order, device=weights.device)
        self.weight = weights[index].contiguous()
        self.bias = biases[index].contiguous()
        sizes = [len(runs) for runs in runs_of_group]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        self._slices = [slice(a, a + n) for a, n in zip(starts, sizes, strict=True)]

    def forward(self, inputs: Sequence[Tensor]) -> Tensor:
        """Return h_0 of every run, (runs, samples, d), for one batch of samples per group.

        Samples with several axes, such as images, are flattened.
        """
        runs, width, _ = self.weight.shape
        stream = self.weight.new_empty(runs, len(inputs[0]), width)
        flat_inputs = [x.flatten(1) for x in inputs]
        for x, members, part in zip(flat_inputs, self._members, self._slices, strict=True):
            weight, bias = self.weight[part].view(-1, x.shape[1]), self.bias[part].view(-1)
            flat = self._products.linear(x, weight, bias)
            stream[members] = flat.view(len(x), -1, width).transpose(0, 1)
        return stream

    def forward_shared(self, x: Tensor) -> Tensor:
        """Return h_0 of every run for one batch that all runs share."""
        runs, width, _ = self.weight.shape
        x = x.flatten(1)
        weight, bias = self.weight.view(-1, x.shape[1]), self.bias.view(-1)
        flat = self._products.linear(x, weight, bias)
        by_place, stream = flat.view(len(x), runs, width), flat.new_empty(runs, len(x), width)
        for members, part in zip(self._members, self._slices, strict=True):
            stream[members] = by_place[:, part].transpose(0, 1)
        return stream

    def backward(
        self,
        inputs: Sequence[Tensor],
        upstream: Tensor,
        weight_out: Tensor,
        bias_out: Tensor,
        scale: float = 1.0,
    ) -> None:
        """Write the gradients of scale·Σ ⟨h_0, upstream⟩ into `weight_out` and `bias_out`.

        Both outputs have the embedding's own order of runs: the runs of a group are adjacent.
        """
        flat_inputs = [x.flatten(1) for x in inputs]
        for x, members, part in zip(flat_inputs, self._members, self._slices, strict=True):
            flat = upstream[members].transpose(1, 2).reshape(-1, len(x))
            out = weight_out[part].view(-1, x.shape[1])
            self._products.weight_gradient(flat.mT, x, out, scale)
            torch.sum(flat, 1, out=bias_out[part].view(-1)).mul_(scale)


def _index(runs: list[int], device: torch.device) -> slice | Tensor:
    """Return an index of the runs; evenly spaced runs get a slice, which copies nothing."""
    step = runs[1] - runs[0] if len(runs) > 1 else 1
    even = range(runs[0], runs[0] + len(runs) * step, step)
    if runs == list(even):
        return slice(even.start, even.stop, step)
    return torch.tensor(runs, device=device)
