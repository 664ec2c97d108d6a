"""Restore a module exactly after a measurement."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from depthgauge.errors import UserError


@contextmanager
def preserve_state(model: nn.Module) -> Iterator[None]:
    """Prepare a module for a measurement, and restore it afterwards.

    Inside the `with` block, the module is in eval mode, gradients are on and autocast is off. Fused
    attention is off too, because it passes nested tensors to the blocks. At the end, also after an
    exception, modes, buffers, `requires_grad` and random states are restored. Parameters and
    `.grad` are not saved, because measurements do not write to them.
    """
    _check_sizes(model)
    required = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    with _restoring(model):
        model.eval()
        try:
            for parameter, _ in required:
                if parameter.is_floating_point():
                    parameter.requires_grad_()
            yield
        finally:
            for parameter, requires_grad in required:
                parameter.requires_grad_(requires_grad)


@contextmanager
def rehearse_training(model: nn.Module) -> Iterator[None]:
    """Prepare a module for trial steps of training, and restore it afterwards.

    Inside the `with` block: train mode, gradients on, autocast off, no fused attention, and no
    `.grad`. Afterwards, also after an exception, modes, buffers, parameters, `.grad` and the random
    states of torch, numpy and Python are restored.
    """
    _check_sizes(model)
    before = [(p, p.detach().clone(), p.grad) for p in model.parameters()]
    numpy_state, python_state = np.random.get_state(), random.getstate()
    with _restoring(model):
        model.train()
        try:
            for parameter, _, _ in before:
                parameter.grad = None
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)
            with torch.no_grad():
                for parameter, value, gradient in before:
                    if not torch.equal(parameter, value):
                        parameter.copy_(value)
                    parameter.grad = gradient


def _check_sizes(model: nn.Module) -> None:
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if is_lazy(tensor):
            raise UserError(
                f"the size of the network's {name} is not known before its first forward pass; run "
                "the network once on a batch first"
            )


@contextmanager
def _restoring(model: nn.Module) -> Iterator[None]:
    """Restore modes, buffers and torch's random state after the `with` block."""
    modes = [(module, module.training) for module in model.modules()]
    restore_buffers = save_buffers(model)
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
            torch.backends.mha.set_fastpath_enabled(False)
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            for module, training in modes:
                module.training = training
            restore_buffers()


def save_buffers(model: nn.Module) -> Callable[[], None]:
    """Copy a module's buffers, and return a function that restores them."""
    buffers = [
        (module, dict(module._buffers), {n: b.detach().clone() for n, b in _filled(module)})
        for module in model.modules()
    ]

    def restore() -> None:
        with torch.no_grad():
            for module, own, values in buffers:
                module._buffers.update(own)
                for name, buffer in _filled(module):
                    if name in values and not torch.equal(buffer, values[name]):
                        buffer.copy_(values[name])

    return restore


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
