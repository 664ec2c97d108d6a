"""Make a plain twin: a module with the network's weights and an ordinary backward pass."""

from __future__ import annotations

import copy

from torch import nn

from depthgauge.errors import UserError, one_line
from depthgauge.nets.preserve_state import device_of, dtype_of
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.nets.user.network import first_misfit


def make_plain_twin(net: StreamReader, plain: nn.Module) -> StreamReader:
    """Return a reader of a copy of `plain`; the copy gets the network's weights.

    The copy's blocks are the modules with the same names as the network's blocks. Parameters that
    only the network has, such as feedback matrices, are left out.
    """
    weights = net.model.state_dict()
    try:
        twin = copy.deepcopy(plain)
    except Exception as error:
        raise UserError(
            f"the module given as plain= cannot be copied ({one_line(error)}); give one that "
            "copy.deepcopy can copy"
        ) from error
    wanted = twin.state_dict().keys()
    unknown = [name for name in wanted if name not in weights]
    if unknown:
        raise UserError(
            f"the module given as plain= has {unknown[0]}, which the network does not have; give "
            "a module whose parameters and buffers have the network's names"
        )
    try:
        twin.load_state_dict({name: weights[name] for name in wanted}, assign=True)
    except RuntimeError as error:
        raise UserError(
            f"the network's weights do not fit the module given as plain=: {first_misfit(error)}"
        ) from error
    reader = copy.copy(net)
    reader.model, reader.blocks = twin, [_same_place(block, net, twin) for block in net.blocks]
    reader.dtype, reader.device = dtype_of(twin), device_of(twin)
    return reader


def _same_place(block: nn.Module, net: StreamReader, twin: nn.Module) -> nn.Module:
    names = [name for name, module in net.model.named_modules() if module is block]
    try:
        return twin.get_submodule(names[0])
    except AttributeError as error:
        raise UserError(
            f"the module given as plain= has no block {names[0]!r}; give a module whose blocks "
            "have the names of the network's blocks"
        ) from error
