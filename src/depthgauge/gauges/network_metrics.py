"""Read accuracy and norms of one network of any kind, after every epoch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from depthgauge.gauges.epoch_metrics import RunReadings
from depthgauge.gauges.norms import BATCH_READ, BATCHES_READ, median_over_samples, stream_norms
from depthgauge.gauges.reference import ReferenceGauge
from depthgauge.losses.contract import Loss
from depthgauge.nets.batch import call_network
from depthgauge.nets.preserve_state import preserve_state
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.tasks.base import Split


def scores_of_network(net: nn.Module, split: Split, loss: Loss, chunk: int) -> Tensor:
    """Return the network's score on each sample, (samples,).

    With one class number for each sample, that is whether the network answers the sample
    correctly, as a flag. The network runs in eval mode.
    """
    score = loss.score(split.y)
    with preserve_state(net), torch.no_grad():
        return torch.cat(
            [
                score(call_network(net, x), y)
                for x, y in zip(
                    torch.split(split.x, chunk), torch.split(split.y, chunk), strict=True
                )
            ]
        )


def norms_of_network(
    net: StreamReader,
    split: Split,
    blocks: int,
    *,
    batches: int = BATCHES_READ,
    batch_size: int = BATCH_READ,
) -> RunReadings:
    """Return the medians of ‖h_l‖, ‖g_l‖ (l = 0 … L) and ‖g_L‖/‖e‖, as `diagnose` reads them.

    Args:
        net: the network.
        split: the samples; the first `batches` batches are read.
        blocks: the number L of blocks; a network without blocks is read at its readout.
        batches: the number of batches.
        batch_size: the number of samples in a batch.
    """
    samples, norms, reference = batches * batch_size, list[Tensor](), ReferenceGauge()
    for x, y in zip(
        torch.split(split.x[:samples], batch_size),
        torch.split(split.y[:samples], batch_size),
        strict=True,
    ):
        seen = net.see(x, y)
        norms.append(stream_norms(seen.states[: blocks + 1], net.layout))
        reference.see(seen.up_to(blocks))
    reading = reference.reading()
    streams: Sequence[float | None] = median_over_samples(torch.cat(norms, -1)).tolist()
    return {
        "h_norm": list(streams),
        "g_norm": list(reading.per_layer),
        "g_over_e": reading.over_error,
    }
