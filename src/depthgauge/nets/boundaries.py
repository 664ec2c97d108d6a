"""Hooks at the block boundaries: catch the stream and its gradient, shift it, skip a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from depthgauge.errors import UserError


class Tape:
    """What went into and came out of every block in one forward pass, and where gradients are.

    A place in the graph is that of the tensor as it was when it passed the boundary, also if the
    network changes it in place afterwards; for the same reason its values are copied. As a context
    it leaves `requires_grad` as it was: a stream may be a parameter or a buffer itself.

    `places` are those of h_0 … h_{L−1} and of the last block's output; None where the output has
    no gradient.
    """

    def __init__(self, blocks: Sequence[nn.Module]) -> None:
        self.blocks = blocks
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.places: list[GradientEdge | None] = []
        self._borrowed: list[Tensor] = []

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        for tensor in self._borrowed:
            tensor.requires_grad_(False)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Hooks on every block, for one forward pass."""
        with hooked(self.blocks, before=self._before, after=self._after):
            yield
        if len(self.outputs) < len(self.blocks):
            raise UserError(
                f"block {len(self.outputs)} of {len(self.blocks)} did not run in the forward pass"
            )

    def gradients(self, logits: Tensor, unit: Tensor) -> list[Tensor | None]:
        """Hand `unit` back from the logits to every place; None where it does not arrive."""
        found: list[Tensor | None] = [None] * len(self.places)
        known = [(index, place) for index, place in enumerate(self.places) if place is not None]
        if logits.requires_grad:
            places = [place for _, place in known]
            reached = torch.autograd.grad(logits, places, unit, allow_unused=True)
            for (index, _), gradient in zip(known, reached, strict=True):
                found[index] = gradient
        return found

    def _before(self, index: int, stream: Tensor) -> None:
        if index != len(self.inputs):
            raise UserError(
                f"block {index} ran when block {len(self.inputs)} was expected; blocks must run "
                "once each, in order"
            )
        if not stream.is_floating_point():
            raise UserError(f"block {index} is given whole numbers, so it is not on the stream")
        if not stream.requires_grad:
            stream.requires_grad_()
            if index == 0:
                self._borrowed.append(stream)
        self.places.append(get_gradient_edge(stream))
        self.inputs.append(stream.detach().clone())

    def _after(self, index: int, output: Tensor) -> None:
        before = self.inputs[index]
        if output.shape != before.shape:
            raise UserError(
                f"block {index} changes the stream's shape from {tuple(before.shape)} to "
                f"{tuple(output.shape)}; give blocks between which the stream keeps its shape"
            )
        self.outputs.append(output.detach().clone())
        if index == len(self.blocks) - 1:
            self.places.append(get_gradient_edge(output) if output.requires_grad else None)


Before = Callable[[int, Tensor], Tensor | None]
After = Callable[[int, Tensor], Tensor | None]


@contextmanager
def hooked(
    blocks: Sequence[nn.Module], before: Before | None = None, after: After | None = None
) -> Iterator[None]:
    """Call `before(index, input)` and `after(index, output)`; what they return replaces it."""
    handles: list[Any] = []
    try:
        for index, block in enumerate(blocks):
            handles += _hook(index, block, before, after)
        yield
    finally:
        for handle in handles:
            handle.remove()


def _hook(index: int, block: nn.Module, before: Before | None, after: After | None) -> list[Any]:
    def on_input(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if before is None:
            return None
        old = _stream_among(index, args, kwargs)
        new = before(index, old)
        if new is None:
            return None
        swapped = {name: new if value is old else value for name, value in kwargs.items()}
        return tuple(new if value is old else value for value in args), swapped

    def on_output(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        if after is None:
            return None
        old = _first_tensor(index, output)
        new = after(index, old)
        return None if new is None else _replaced(output, old, new)

    return [
        block.register_forward_pre_hook(on_input, with_kwargs=True),
        block.register_forward_hook(on_output, with_kwargs=True),
    ]


def _stream_among(index: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            return value
    raise UserError(f"block {index} is given no tensor, so the stream cannot be seen there")


def _first_tensor(index: int, output: Any) -> Tensor:
    values = output.values() if isinstance(output, Mapping) else output
    if isinstance(output, Tensor):
        return output
    if isinstance(output, Mapping | tuple | list):
        for value in values:
            if isinstance(value, Tensor):
                return value
    raise UserError(f"block {index} returns {type(output).__name__} without a tensor in it")


def _replaced(output: Any, old: Tensor, new: Tensor) -> Any:
    if isinstance(output, Tensor):
        return new
    if isinstance(output, Mapping):
        items = {name: new if value is old else value for name, value in output.items()}
        return type(output)(**items)
    values = [new if value is old else value for value in output]
    return type(output)(*values) if hasattr(output, "_fields") else type(output)(values)


@contextmanager
def overwriting(model: nn.Module) -> Iterator[Callable[[Tensor, Tensor], None]]:
    """Give a function that writes new values into a tensor of a forward pass.

    The network's own tensor is written to, so whatever reads it again reads the new values. A
    parameter or buffer, and a tensor that lies over itself, gets new memory until the end instead.
    """
    owned = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
    replaced: list[tuple[Tensor, Tensor]] = []

    def overwrite(tensor: Tensor, value: Tensor) -> None:
        overlaps = 0 in tensor.stride() and tensor.numel() > 1
        if overlaps or tensor.untyped_storage().data_ptr() in owned:
            replaced.append((tensor, tensor.data))
            tensor.data = value.clone()
        else:
            tensor.data.copy_(value)

    try:
        yield overwrite
    finally:
        for tensor, data in replaced:
            tensor.data = data


@contextmanager
def shifted(
    blocks: Sequence[nn.Module], boundary: int, shift: Tensor, adds: bool
) -> Iterator[None]:
    """h_boundary ← h_boundary + shift, for every forward pass inside.

    A block's output shifts the stream after it by the same amount, whether it is the stream or a
    branch that is added to it. The first block is given a shifted input; a network that `adds`
    its branch to the unshifted h_0 gets the shift through that branch.
    """

    def before(index: int, stream: Tensor) -> Tensor | None:
        return stream + shift.to(stream.dtype) if index == boundary == 0 else None

    def after(index: int, output: Tensor) -> Tensor | None:
        shifts = index == boundary - 1 or (adds and index == boundary == 0)
        return output + shift.to(output.dtype) if shifts else None

    with hooked(blocks, before=before, after=after):
        yield


@contextmanager
def skipped(blocks: Sequence[nn.Module], index: int, adds: bool) -> Iterator[None]:
    """Block `index` does nothing: its branch is zero, or its output is its input."""
    kept: list[Tensor] = []

    def before(number: int, stream: Tensor) -> None:
        if number == index:
            kept.append(stream.clone())

    def after(number: int, output: Tensor) -> Tensor | None:
        if number != index:
            return None
        return torch.zeros_like(output) if adds else kept.pop()

    with hooked(blocks, before=before, after=after):
        yield
