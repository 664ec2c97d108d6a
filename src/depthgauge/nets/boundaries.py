"""Shift or overwrite the stream at block boundaries, or skip a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.nets.cut.passage import find_stream, first_tensor, replace_tensor

Before = Callable[[int, Tensor], Tensor | None]
After = Callable[[int, Tensor], Tensor | None]


@contextmanager
def hooked(
    blocks: Sequence[nn.Module],
    before: Before | None = None,
    after: After | None = None,
    *,
    argument: int | str | None = None,
) -> Iterator[None]:
    """Call `before(index, input)` and `after(index, output)` around every block.

    A tensor that `before` returns replaces the input. A tensor that `after` returns replaces the
    output. A module that is listed several times has one index for each of its calls, in turn. The
    input is the `argument` of a block that is the stream; None is the first tensor.
    """
    handles: list[Any] = []
    try:
        for block in dict.fromkeys(blocks):
            numbers = [index for index, own in enumerate(blocks) if own is block]
            handles += _hook(cycle(numbers), block, before, after, argument)
        yield
    finally:
        for handle in handles:
            handle.remove()


def _hook(
    numbers: Iterator[int],
    block: nn.Module,
    before: Before | None,
    after: After | None,
    argument: int | str | None,
) -> list[Any]:
    index = -1

    def on_input(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal index
        index = next(numbers)
        if before is None:
            return None
        old = find_stream(index, args, kwargs, argument)
        new = before(index, old)
        if new is None:
            return None
        new_kwargs = {name: new if value is old else value for name, value in kwargs.items()}
        return tuple(new if value is old else value for value in args), new_kwargs

    def on_output(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        if after is None:
            return None
        old = first_tensor(index, output)
        new = after(index, old)
        return None if new is None else replace_tensor(output, old, new)

    return [
        block.register_forward_pre_hook(on_input, with_kwargs=True),
        block.register_forward_hook(on_output, with_kwargs=True),
    ]


@contextmanager
def overwriting(model: nn.Module) -> Iterator[Callable[[Tensor, Tensor], None]]:
    """Yield a function `overwrite(tensor, value)` for tensors inside a forward pass.

    `overwrite` writes into the tensor's own memory, so every later reader reads the new values. If
    the tensor is a parameter or a buffer, or if its entries share memory, it gets new memory
    instead, and its old memory back at the end of the `with` block.
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
    blocks: Sequence[nn.Module],
    boundary: int,
    shift: Tensor,
    *,
    adds: bool,
    argument: int | str | None = None,
) -> Iterator[None]:
    """Add `shift` to the stream at a boundary, in every forward pass inside the `with` block.

    The shift is added to the output of the block before the boundary, whether that output is the
    stream or a branch. At boundary 0 the shift is added to the first block's input. A network that
    `adds` the first block's branch to h_0 uses an h_0 without the shift. So the shift is added to
    this branch too.
    """

    def before(index: int, stream: Tensor) -> Tensor | None:
        return stream + shift.to(stream.dtype) if index == boundary == 0 else None

    def after(index: int, output: Tensor) -> Tensor | None:
        shifts = index == boundary - 1 or (adds and index == boundary == 0)
        return output + shift.to(output.dtype) if shifts else None

    with hooked(blocks, before=before, after=after, argument=argument):
        yield


@contextmanager
def skipped(
    blocks: Sequence[nn.Module], index: int, *, adds: bool, argument: int | str | None = None
) -> Iterator[None]:
    """Skip block `index` in every forward pass inside the `with` block.

    The block returns its input. If the network `adds` what a block returns to the stream, the block
    returns zeros instead.
    """
    kept: list[Tensor] = []

    def before(number: int, stream: Tensor) -> None:
        if number == index:
            kept.append(stream.clone())

    def after(number: int, output: Tensor) -> Tensor | None:
        if number != index:
            return None
        return torch.zeros_like(output) if adds else kept.pop()

    with hooked(blocks, before=before, after=after, argument=argument):
        yield
