"""The weights that a network had before training, and its blocks with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.stream_reader import StreamReader

Initial = nn.Module | Mapping[str, Tensor]
"""The untrained network, or its state dict."""


class InitialWeights:
    """Initial values of a network's tensors, by name.

    Args:
        given: the untrained network, or its state dict.
        net: the trained network, whose blocks all must be found in it.

    Raises:
        UserError: a parameter of a block is missing, or has another shape or the trained values'
            own memory.
    """

    def __init__(self, given: Initial, net: StreamReader) -> None:
        self._initial = dict(_tensors(given) if isinstance(given, nn.Module) else given.items())
        self._initial = {_plain(name): tensor for name, tensor in self._initial.items()}
        for index in range(net.num_blocks):
            self._check(net, index)

    @contextmanager
    def in_block(self, net: StreamReader, index: int) -> Iterator[None]:
        """Inside, one block has its initial parameters and buffers; after, its own memory again.

        Not a number of the trained network is written to: its tensors look elsewhere meanwhile.
        """
        with torch.inference_mode(False), torch.no_grad():
            found = self._of_block(net, index)
            trained = [(tensor, tensor.data) for _, tensor, _ in found]
            try:
                for _, tensor, initial in found:
                    tensor.data = initial.detach().to(tensor.device, tensor.dtype, copy=True)
                yield
            finally:
                for tensor, values in trained:
                    tensor.data = values

    def _of_block(self, net: StreamReader, index: int) -> list[tuple[str, Tensor, Tensor]]:
        """Return name, tensor and initial value of all that the initial network has."""
        own = {id(tensor) for _, tensor in _tensors(net.blocks[index])}
        names = ((_plain(name), tensor) for name, tensor in _tensors(net.model))
        return [
            (name, tensor, self._initial[name])
            for name, tensor in names
            if id(tensor) in own and name in self._initial
        ]

    def _check(self, net: StreamReader, index: int) -> None:
        found = self._of_block(net, index)
        known = {id(tensor) for _, tensor, _ in found}
        missing = {id(one) for one in net.blocks[index].parameters()} - known
        for name, tensor in _tensors(net.model):
            if id(tensor) in missing:
                raise UserError(
                    f"the initial weights have no {_plain(name)}; give the untrained network "
                    "itself, or its whole state dict"
                )
        for name, tensor, initial in found:
            if tensor.shape != initial.shape:
                raise UserError(
                    f"the initial {name} has the shape {tuple(initial.shape)}, the trained one "
                    f"{tuple(tensor.shape)}; give the same network as it was before training"
                )
            if tensor.numel() and tensor.data_ptr() == initial.data_ptr():
                raise UserError(
                    f"the initial {name} is the trained one itself: a state dict does not copy; "
                    "keep copy.deepcopy(net.state_dict()) before training"
                )


def _tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Return parameters and buffers with every name that they have."""
    return chain(
        module.named_parameters(remove_duplicate=False),
        module.named_buffers(remove_duplicate=False),
    )


def _plain(name: str) -> str:
    """Return a name without what compiling or spreading the network put before it."""
    return name.replace("_orig_mod.", "").removeprefix("module.")
