"""Read accuracy and norms of all runs of a cohort at once, after every epoch."""

from __future__ import annotations

import torch
from torch import Tensor

from depthgauge.gauges.epoch_metrics import RunReadings
from depthgauge.gauges.norms import (
    BATCH_READ,
    BATCHES_READ,
    median_over_samples,
    sample_norms,
    unit_vectors,
)
from depthgauge.losses.contract import Loss
from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.tasks.base import Split

CHUNK = 250
"""Samples in one forward pass; so few that all runs' activations fit into the CPU's cache."""


@torch.no_grad()
def scores_of_runs(net: StackedResidualMLP, split: Split, loss: Loss, chunk: int = CHUNK) -> Tensor:
    """Return each run's score on each evaluation sample, as (runs, samples).

    With one class number for each sample, that is whether the run answers the sample correctly.
    """
    score, runs = loss.score(split.y), net.num_runs
    chunks = zip(torch.split(split.x, chunk), torch.split(split.y, chunk), strict=True)
    return torch.cat(
        [
            score(net.logits_shared(x).flatten(0, 1), y.repeat(runs, *[1] * (y.dim() - 1))).view(
                runs, -1
            )
            for x, y in chunks
        ],
        1,
    )


@torch.no_grad()
def norms_of_runs(
    net: StackedResidualMLP,
    split: Split,
    loss: Loss,
    *,
    batches: int = BATCHES_READ,
    batch_size: int = BATCH_READ,
) -> list[RunReadings]:
    """Return each run's medians of ‖h_l‖ and ‖g_l‖ for l = 0 … L, and of ‖g_L‖/‖e‖.

    h_l is state l of the stream, g_l the gradient at h_l, and e the error at the logits. Gradients
    are of each sample's own loss, so they do not depend on the batch size. The medians are over the
    samples of the first `batches` batches. The backward pass starts from the unit error e/‖e‖, so
    the gradient of a confident sample does not underflow.
    """
    stream_norms, unit_norms, error_norms = [], [], []
    samples = batches * batch_size
    for x, y in zip(
        torch.split(split.x[:samples], batch_size),
        torch.split(split.y[:samples], batch_size),
        strict=True,
    ):
        trace = net.forward_shared(x)
        targets = y.repeat(net.num_runs, *[1] * (y.dim() - 1))
        outputs = trace.logits.double()
        error = loss.error(outputs.flatten(0, 1), targets).view_as(outputs)
        unit = unit_vectors(error).to(trace.logits.dtype)
        stream_norms.append(sample_norms(trace.states))
        unit_norms.append(sample_norms(net.stream_backward(trace, unit)))
        error_norms.append(sample_norms([error]))
    units = torch.cat(unit_norms, -1)
    streams = median_over_samples(torch.cat(stream_norms, -1)).tolist()
    gradients = median_over_samples(units * torch.cat(error_norms, -1)).tolist()
    ratios = median_over_samples(units[..., -1, :]).tolist()
    return [
        {"h_norm": h, "g_norm": g, "g_over_e": ratio}
        for h, g, ratio in zip(streams, gradients, ratios, strict=True)
    ]
