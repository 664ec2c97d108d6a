"""Give blocks of a trained network the weights that they had before training."""

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
    """The initial values of a network's parameters and buffers.

    Args:
        given: the untrained network, or its state dict.
        net: the trained network. `given` must have all parameters of this network's blocks.

    Raises:
        UserError: a block's parameter is missing in `given`, has another shape there, or shares
            its memory with the trained network.
    """

    def __init__(self, given: Initial, net: StreamReader) -> None:
        self._initial = dict(_tensors(given) if isinstance(given, nn.Module) else given.items())
        self._initial = {_strip_wrappers(name): tensor for name, tensor in self._initial.items()}
        for index in range(net.num_blocks):
            self._check(net, index)

    @contextmanager
    def in_block(self, net: StreamReader, index: int) -> Iterator[None]:
        """Give one block its initial parameters and buffers inside the `with` block.

        The block's tensors get other memory meanwhile, so no trained value is overwritten.
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
        """List a block's tensors that have an initial value, as (name, tensor, initial value)."""
        own = {id(tensor) for _, tensor in _tensors(net.blocks[index])}
        names = ((_strip_wrappers(name), tensor) for name, tensor in _tensors(net.model))
        return [
            (name, tensor, self._initial[name])
            for name, tensor in names
            if id(tensor) in own and name in self._initial
        ]

    def _check(self, net: StreamReader, index: int) -> None:
        """Refuse initial weights that do not fit a block."""
        found = self._of_block(net, index)
        known = {id(tensor) for _, tensor, _ in found}
        missing = {id(parameter) for parameter in net.blocks[index].parameters()} - known
        for name, tensor in _tensors(net.model):
            if id(tensor) in missing:
                raise UserError(
                    f"the initial weights have no {_strip_wrappers(name)}; give the untrained "
                    "network itself, or its whole state dict"
                )
        for name, tensor, initial in found:
            if tensor.shape != initial.shape:
                raise UserError(
                    f"the initial {name} has the shape {tuple(initial.shape)}, but the trained "
                    f"{name} has {tuple(tensor.shape)}; give the initial weights of this network"
                )
            if tensor.numel() and tensor.data_ptr() == initial.data_ptr():
                raise UserError(
                    f"the initial {name} and the trained {name} are the same tensor in memory (a "
                    "state dict is no copy); save copy.deepcopy(net.state_dict()) before training"
                )


def _tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Iterate over parameters and buffers; a tensor with several names comes once for each name."""
    return chain(
        module.named_parameters(remove_duplicate=False),
        module.named_buffers(remove_duplicate=False),
    )


def _strip_wrappers(name: str) -> str:
    """Return a parameter's name without the prefixes of torch.compile and DataParallel."""
    return name.replace("_orig_mod.", "").removeprefix("module.")
