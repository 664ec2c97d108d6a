"""Run a network on one batch again and again, each time from the same state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.nets.batch import call_network, copy_inputs
from depthgauge.nets.preserve_state import device_of, dtype_of, save_buffers
from depthgauge.nets.seeded import seed_all

SampleLosses = Callable[[Tensor, Tensor], Tensor]
SMALL = 0.02
"""The standard deviation that parameters get which start at zero."""


class Trial:
    """A network with one batch, for trial steps inside `rehearse_training`.

    Every call of `run` begins with the same buffers, random states and no `.grad`. Parameters that
    are zero get small random values first: behind a zero, no gradient would tell anything.

    Attributes:
        seed: the seed of every run.
    """

    def __init__(
        self, model: nn.Module, inputs: Any, labels: Tensor, losses: SampleLosses, seed: int = 0
    ) -> None:
        self.model, self.seed = model, seed
        self._inputs = copy_inputs(inputs, device_of(model), dtype_of(model))
        self._labels, self._losses = labels.to(device_of(model)), losses
        self._restore_buffers = save_buffers(model)
        _fill_zeros(model)

    def run(self) -> Tensor:
        """Run the forward pass from the trial's state, and return the output."""
        self._restore_buffers()
        self.model.zero_grad(set_to_none=True)
        return self.rerun()

    def rerun(self) -> Tensor:
        """Run the forward pass with the trial's random numbers, and return the output."""
        seed_all(self.seed)
        return call_network(self.model, copy_inputs(self._inputs, *self._place))

    @property
    def _place(self) -> tuple[torch.device, torch.dtype]:
        return device_of(self.model), dtype_of(self.model)

    def loss(self, output: Tensor) -> Tensor:
        """Return the mean loss over samples."""
        return self._losses(output, self._labels).mean()

    def gradients(self) -> dict[str, Tensor | None]:
        """Return each parameter's `.grad`."""
        return {
            name: gradient.to_dense() if gradient is not None and gradient.is_sparse else gradient
            for name, gradient in ((n, p.grad) for n, p in self.model.named_parameters())
        }


@torch.no_grad()
def _fill_zeros(model: nn.Module) -> None:
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        if parameter.is_floating_point() and not parameter.any():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(SMALL * noise)


Before = Callable[[int, tuple[Any, ...], Mapping[str, Any]], None]
After = Callable[[int, Any], Any]


@contextmanager
def watch_calls(
    blocks: Sequence[nn.Module], before: Before | None = None, after: After | None = None
) -> Iterator[None]:
    """Call `before(number, args, kwargs)` and `after(number, output)` around every block call.

    Calls are counted from 0. What `after` returns replaces the output, unless it is None.
    """
    count = -1

    def on_input(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        nonlocal count
        count += 1
        if before is not None:
            before(count, args, kwargs)

    def on_output(_: nn.Module, __: Any, output: Any) -> Any:
        return None if after is None else after(count, output)

    handles: list[Any] = []
    try:
        for block in dict.fromkeys(blocks):
            handles.append(block.register_forward_pre_hook(on_input, with_kwargs=True))
            handles.append(block.register_forward_hook(on_output))
        yield
    finally:
        for handle in handles:
            handle.remove()
