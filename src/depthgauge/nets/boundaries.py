"""Record or shift the stream at block boundaries, record its gradients, or skip a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from depthgauge.errors import UserError
from depthgauge.nets.cut.passage import find_stream, first_tensor, replace_tensor


class Tape:
    """A recording of one forward pass: every block's input and output, and their graph edges.

    A graph edge tells autograd where to take a gradient. Values are copied and edges are taken when
    a tensor passes the boundary. So the tape stays right if the network changes the tensor in place
    afterwards. The stream may itself be a parameter or a buffer; the end of `with tape:` restores
    its `requires_grad`.

    Attributes:
        blocks: the blocks in their order.
        inputs, outputs: the input and the output of each block.
        edges: the graph edges of h_0 … h_{L−1}, then of the last block's output. The last edge is
            None if that output has no gradient.
    """

    def __init__(self, blocks: Sequence[nn.Module]) -> None:
        self.blocks = blocks
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.edges: list[GradientEdge | None] = []
        self._changed: list[Tensor] = []

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        for tensor in self._changed:
            tensor.requires_grad_(False)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record one forward pass inside the `with` block."""
        with hooked(self.blocks, before=self._before, after=self._after):
            yield
        if len(self.outputs) < len(self.blocks):
            raise UserError(
                f"block {len(self.outputs)} of {len(self.blocks)} did not run in the forward pass; "
                "give blocks that all run"
            )

    def gradients(self, logits: Tensor, unit: Tensor) -> list[Tensor | None]:
        """Return the gradient of ⟨unit, logits⟩ at every edge; None where no gradient arrives."""
        gradients: list[Tensor | None] = [None] * len(self.edges)
        known = [(index, edge) for index, edge in enumerate(self.edges) if edge is not None]
        if logits.requires_grad:
            edges = [edge for _, edge in known]
            arrived = torch.autograd.grad(logits, edges, unit, allow_unused=True)
            for (index, _), gradient in zip(known, arrived, strict=True):
                gradients[index] = gradient
        return gradients

    def _before(self, index: int, stream: Tensor) -> None:
        if index != len(self.inputs):
            raise UserError(
                f"block {index} ran when block {len(self.inputs)} was expected; blocks must run "
                "once each, in order"
            )
        if not stream.is_floating_point():
            raise UserError(
                f"block {index} gets whole numbers, which have no gradient; give the blocks after "
                "the embedding"
            )
        if not stream.requires_grad:
            stream.requires_grad_()
            if index == 0:
                self._changed.append(stream)
        self.edges.append(get_gradient_edge(stream))
        self.inputs.append(stream.detach().clone())

    def _after(self, index: int, output: Tensor) -> None:
        before = self.inputs[index]
        if output.shape != before.shape:
            raise UserError(
                f"block {index} changes the stream's shape from {tuple(before.shape)} to "
                f"{tuple(output.shape)}; give only blocks that keep the stream's shape"
            )
        self.outputs.append(output.detach().clone())
        if index == len(self.blocks) - 1:
            self.edges.append(get_gradient_edge(output) if output.requires_grad else None)


Before = Callable[[int, Tensor], Tensor | None]
After = Callable[[int, Tensor], Tensor | None]


@contextmanager
def hooked(
    blocks: Sequence[nn.Module], before: Before | None = None, after: After | None = None
) -> Iterator[None]:
    """Call `before(index, input)` and `after(index, output)` around every block.

    A tensor that `before` returns replaces the input. A tensor that `after` returns replaces the
    output.
    """
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
        old = find_stream(index, args, kwargs)
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
    blocks: Sequence[nn.Module], boundary: int, shift: Tensor, adds: bool
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

    with hooked(blocks, before=before, after=after):
        yield


@contextmanager
def skipped(blocks: Sequence[nn.Module], index: int, adds: bool) -> Iterator[None]:
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

    with hooked(blocks, before=before, after=after):
        yield
