"""What the hooks of a cut see of one forward pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from depthgauge.errors import UserError
from depthgauge.nets.cut.boundary import Boundary
from depthgauge.nets.cut.passage import Passage, find_stream, first_tensor


class ForwardPass:
    """One forward pass: its block calls and their boundaries.

    Args:
        passage: how the stream passes through the blocks.
        leaves: gets the streams that become leaves of the graph; None if none should.
    """

    def __init__(self, passage: Passage, leaves: list[Tensor] | None) -> None:
        self.passage, self._leaves = passage, leaves
        self.calls: list[int] = []
        self.returned: list[Any] = []
        self._boundaries: list[Boundary] = []
        self.outputs: list[Boundary] = []
        self.random_states: list[Tensor] = []
        self._had_gradients: bool | None = None

    def enter(
        self, numbers: Sequence[int], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Take the boundary at the input of a call of the block that has these numbers."""
        below = self.calls[-1] if self.calls else -1
        block = next((number for number in numbers if number > below), numbers[-1])
        if len(self.returned) < len(self.calls):
            raise UserError(
                f"block {block} runs inside block {self.calls[-1]}; give blocks that run one after "
                "the other"
            )
        if block <= below:
            what = "runs twice" if block in self.calls else f"runs after block {below}"
            raise UserError(
                f"block {block} {what} in a forward pass; give each block once for each time it "
                "runs, in the order in which they run"
            )
        stream = find_stream(block, args, kwargs, self.passage.argument)
        if not stream.is_floating_point():
            raise UserError(
                f"block {block} gets whole numbers, which have no gradient; give the blocks after "
                "the embedding"
            )
        if self._leaves is not None and not stream.requires_grad:
            self._leaves.append(stream.requires_grad_())
        self._boundaries.append(Boundary(below, stream, self.passage.copies))
        self.calls.append(block)

    def leave(self, output: Any) -> None:
        """Take the boundary at the output of a block call."""
        block = self.calls[-1]
        self.returned.append(output)
        stream = first_tensor(block, output)
        if self.passage.draws:
            self.random_states.append(torch.get_rng_state())
        self.outputs.append(Boundary(block, stream, self.passage.copies))

    def stop_gradients(self) -> None:
        """Turn gradients off until the block returns."""
        self._had_gradients = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def continue_gradients(self) -> None:
        """Turn gradients on again, if they were on before."""
        if self._had_gradients is not None:
            torch.set_grad_enabled(self._had_gradients)
            self._had_gradients = None

    def boundaries(self) -> list[Boundary]:
        """Return the boundaries of all calls, and of the last call's output."""
        if not self.outputs:
            return []
        self.outputs[-1].take_edge()
        return [*self._boundaries, self.outputs[-1]]
