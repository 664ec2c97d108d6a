"""Measure a module and leave it exactly as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def preserve_state(model: nn.Module) -> Iterator[None]:
    """Inside: eval mode, gradients on, autocast off. After: everything as it was found.

    Modes, buffers, `requires_grad` and random states are put back, whatever happened; parameters
    and their `.grad` are never written to by a measurement. Fused attention is off inside: it hands
    nested tensors to the blocks.
    """
    modes = [(module, module.training) for module in model.modules()]
    wanted = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    buffers = [
        (module, dict(module._buffers), {n: b.detach().clone() for n, b in _filled(module)})
        for module in model.modules()
    ]
    fast = torch.backends.mha.get_fastpath_enabled()
    device = device_of(model)
    devices = [device] if device.type == "cuda" else []
    with (
        torch.random.fork_rng(devices),
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.autocast(device.type, enabled=False),
    ):
        try:
            model.eval()
            torch.backends.mha.set_fastpath_enabled(False)
            for parameter, _ in wanted:
                if parameter.is_floating_point():
                    parameter.requires_grad_()
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            for module, training in modes:
                module.training = training
            for parameter, requires_grad in wanted:
                parameter.requires_grad_(requires_grad)
            with torch.no_grad():
                for module, own, values in buffers:
                    module._buffers.update(own)
                    for name, buffer in _filled(module):
                        if name in values and not torch.equal(buffer, values[name]):
                            buffer.copy_(values[name])


def _filled(module: nn.Module) -> list[tuple[str, Tensor]]:
    return [(name, buffer) for name, buffer in module._buffers.items() if buffer is not None]


def device_of(model: nn.Module) -> torch.device:
    """Where the network lives: its first parameter or buffer."""
    for tensor in [*model.parameters(), *model.buffers()]:
        return tensor.device
    return torch.device("cpu")


def dtype_of(model: nn.Module) -> torch.dtype:
    """The least precise floating type among the parameters; float32 if there are none."""
    types = {p.dtype for p in model.parameters() if p.is_floating_point()}
    return max(types, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float32)
