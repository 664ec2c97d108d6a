"""Run any network so that each block can follow a credit of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from depthgauge.errors import UserError
from depthgauge.nets.cut.forward_pass import ForwardPass
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.recording import Recording


class Cut:
    """A network with hooks at the boundaries of its blocks.

    The forward pass is untouched. A boundary is a place in the graph: the input of each block call,
    and the output of the last one. In the backward pass, the gradient that arrives there is
    replaced (see `Recording.backward`). Detaching the blocks' inputs instead would be wrong for
    many networks, because the loss then flows round the cut.

    Hooks do nothing outside of `record`. `close` removes them.

    Args:
        model: any module.
        blocks: its blocks, in the order in which they run. A module that runs several times is
            listed once for each of its calls.
        frozen: the numbers of blocks that are not trained. Their parameters get
            `requires_grad=False`.
        end_to_end: whether gradients flow through frozen blocks. Backpropagation and
            `Recording.gradients` need it. Otherwise frozen blocks run without a graph.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Sequence[nn.Module],
        *,
        frozen: Collection[int] = (),
        end_to_end: bool = False,
    ) -> None:
        self.model, self.blocks = model, list(blocks)
        self.frozen, self.end_to_end = frozenset(frozen), end_to_end
        self._pass: ForwardPass | None = None
        self._handles: list[Any] = []
        self._changed: list[nn.Parameter] = []
        self._leaves: list[Tensor] = []
        self._freeze()
        for block in dict.fromkeys(self.blocks):
            self._attach(block, [i for i, own in enumerate(self.blocks) if own is block])

    def record(
        self, run: Callable[[], Tensor], *, passes: Passage | None = None, leaves: bool = False
    ) -> Recording:
        """Run a forward pass and record it.

        Args:
            run: runs the network on a batch, and returns its output.
            passes: how the stream passes through the blocks; by default, it is the first tensor
                among a block's arguments, and blocks return the stream.
            leaves: whether a stream without a gradient becomes a leaf of the graph, so that it gets
                a gradient. `close` undoes this.
        """
        with_gradients = torch.is_grad_enabled()
        self._pass = seen = ForwardPass(passes or Passage(), self._leaves if leaves else None)
        try:
            output = run()
        finally:
            self._pass = None
            torch.set_grad_enabled(with_gradients)
        return Recording(
            output,
            num_blocks=len(self.blocks),
            boundaries=seen.boundaries(),
            returned=seen.returned,
            outputs=[boundary.value for boundary in seen.outputs],
            random_states=seen.random_states,
            trained=frozenset(call for call in seen.calls if self._is_trained(call)),
            frozen_without_graph=not (self.end_to_end or seen.passage.through_frozen)
            and not self.frozen.isdisjoint(seen.calls),
            passage=seen.passage,
        )

    def _is_trained(self, block: int) -> bool:
        return any(parameter.requires_grad for parameter in self.blocks[block].parameters())

    def close(self) -> None:
        """Remove the hooks, and let frozen parameters be trained again."""
        for handle in self._handles:
            handle.remove()
        for parameter in self._changed:
            parameter.requires_grad_(True)
        for stream in self._leaves:
            stream.requires_grad_(False)
        self._handles, self._changed, self._leaves = [], [], []

    def __enter__(self) -> Cut:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _freeze(self) -> None:
        """Stop the gradients of the frozen blocks' parameters.

        A parameter that a frozen block shares with a trained block is refused.
        """
        trained = {
            id(parameter): index
            for index, block in enumerate(self.blocks)
            if index not in self.frozen
            for parameter in block.parameters()
        }
        for index in sorted(self.frozen):
            for parameter in self.blocks[index].parameters():
                if id(parameter) in trained:
                    raise UserError(
                        f"blocks {index} and {trained[id(parameter)]} share weights, so one of "
                        "them cannot be frozen alone; freeze both or none"
                    )
                if parameter.requires_grad:
                    parameter.requires_grad_(False)
                    self._changed.append(parameter)

    def _attach(self, block: nn.Module, numbers: list[int]) -> None:
        """Hook a block, which has these numbers.

        A deep copy of the block carries the hooks along; there they do nothing.
        """
        without_graph = not self.end_to_end and not self.frozen.isdisjoint(numbers)

        def before(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if self._pass is not None and module is block:
                self._pass.enter(numbers, args, kwargs)
                if without_graph and not self._pass.passage.through_frozen:
                    self._pass.stop_gradients()

        def restore(module: nn.Module, *_: Any) -> None:
            if self._pass is not None and module is block:
                self._pass.continue_gradients()

        def after(module: nn.Module, _: Any, output: Any) -> None:
            if self._pass is not None and module is block:
                self._pass.leave(output)

        hook_before, hook_after, hook_restore = map(_outside_compiler, (before, after, restore))
        self._handles.append(block.register_forward_pre_hook(hook_before, with_kwargs=True))
        if without_graph:
            self._handles.append(block.register_forward_hook(hook_restore, always_call=True))
        self._handles.append(block.register_forward_hook(hook_after))


def _outside_compiler(hook: Callable[..., None]) -> Callable[..., None]:
    """Return a hook that torch's compiler does not trace, if the compiler is in use."""
    if "torch._dynamo" not in sys.modules:
        return hook
    disabled: Callable[..., None] = torch.compiler.disable(hook)  # type: ignore[no-untyped-call]
    return disabled
