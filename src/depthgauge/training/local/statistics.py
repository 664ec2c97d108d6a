"""Keep the buffers of frozen blocks, such as the statistics of BatchNorm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from depthgauge.nets.batch import call_network
from depthgauge.nets.preserve_state import save_buffers

FEWEST_SAMPLES = 2
"""The fewest samples whose statistics a normalisation over the batch can take."""


class FrozenBuffers:
    """The buffers of a network's frozen blocks, which training must not change.

    The statistics of a normalisation are averaged once over the training set, at initialisation.
    Their initial values 0 and 1 would make a block without a norm. From then on the normalisations
    of frozen blocks use these statistics and keep them, in training too.
    """

    def __init__(self, net: nn.Module, frozen: Sequence[nn.Module]) -> None:
        self._net, self._frozen = net, list(frozen)
        self._norms = [norm for block in frozen for norm in _norms_with_statistics(block)]
        self.keep()

    @torch.no_grad()
    def average(self, batches: Iterable[Tensor]) -> None:
        """Average the statistics of frozen blocks over these inputs, all with the same weight.

        Every normalisation normalises by the statistics of the batch, as in training; dropout is
        off. The statistics of all other normalisations are left as they were.
        """
        if not self._norms:
            return
        norms = _norms_with_statistics(self._net)
        others = [norm for norm in norms if all(norm is not own for own in self._norms)]
        before = [(t, t.clone()) for norm in others for t in norm.buffers()]
        momenta = [norm.momentum for norm in norms]
        self._net.eval()
        for norm in norms:
            norm.train()
            norm.reset_running_stats()
            norm.momentum = None  # every batch has the same weight
        for inputs in batches:
            if len(inputs) >= FEWEST_SAMPLES:
                call_network(self._net, inputs)
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        for tensor, value in before:
            tensor.copy_(value)
        self.keep()

    def train(self) -> None:
        """Put the network into training mode, except the normalisations of frozen blocks."""
        self._net.train()
        for norm in self._norms:
            norm.eval()

    def keep(self) -> None:
        """Take the present values as the values to keep."""
        self._restore = [save_buffers(block) for block in self._frozen]

    def put_back(self) -> None:
        """Undo what a forward pass did to the buffers of frozen blocks."""
        for restore in self._restore:
            restore()


def _norms_with_statistics(module: nn.Module) -> list[_NormBase]:
    return [
        part
        for part in module.modules()
        if isinstance(part, _NormBase) and part.track_running_stats
    ]
