"""Restore a module exactly after a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def preserve_state(model: nn.Module) -> Iterator[None]:
    """Prepare a module for a measurement, and restore it afterwards.

    Inside the `with` block, the module is in eval mode, gradients are on and autocast is off. Fused
    attention is off too, because it passes nested tensors to the blocks. At the end, also after an
    exception, modes, buffers, `requires_grad` and random states are restored. Parameters and
    `.grad` are not saved, because measurements do not write to them.
    """
    modes = [(module, module.training) for module in model.modules()]
    required = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
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
            for parameter, _ in required:
                if parameter.is_floating_point():
                    parameter.requires_grad_()
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            for module, training in modes:
                module.training = training
            for parameter, requires_grad in required:
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
    """Return the device of the network's first parameter or buffer."""
    for tensor in [*model.parameters(), *model.buffers()]:
        return tensor.device
    return torch.device("cpu")


def dtype_of(model: nn.Module) -> torch.dtype:
    """Return the least precise floating-point type of the parameters; float32 if there is none."""
    types = {p.dtype for p in model.parameters() if p.is_floating_point()}
    return max(types, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float32)
