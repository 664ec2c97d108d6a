"""The obvious design, which is silently wrong for many networks: detach the blocks' inputs.

A pre-hook gives each block a detached copy of its input, and the backward pass starts at the loss,
at the first block's input and at every block's output. A hook changes the block's argument, not the
caller's variable; where the network uses that variable besides, the loss flows round the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


def gradients_with_detached_inputs(
    model: nn.Module,
    blocks: Sequence[nn.Module],
    run: Callable[[], Tensor],
    credit: Sequence[Tensor],
    argument: int | str = 0,
) -> dict[str, Tensor | None]:
    """Each parameter's gradient of the loss that `run` returns, with credit at the boundaries."""
    first: list[Tensor] = []
    outputs: list[Tensor] = []

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        stream = kwargs[argument] if argument in kwargs else args[argument]
        first.append(stream)
        leaf = stream.detach().requires_grad_()
        if argument in kwargs:
            return args, kwargs | {argument: leaf}
        return (*args[:argument], leaf, *args[argument + 1 :]), kwargs

    def after(_: nn.Module, __: Any, output: Any) -> None:
        outputs.append(output[0] if isinstance(output, tuple) else output)

    handles = [b.register_forward_pre_hook(before, with_kwargs=True) for b in blocks]
    handles += [b.register_forward_hook(after) for b in blocks]
    model.zero_grad()
    try:
        loss = run()
        starts: list[Tensor | None] = [None, *credit[: len(outputs) + 1]]
        roots = [loss, first[0], *outputs]
        pairs = [(r, s) for r, s in zip(roots, starts, strict=True) if r.requires_grad]
        torch.autograd.backward([r for r, _ in pairs], [s for _, s in pairs])
    finally:
        for handle in handles:
            handle.remove()
    taken = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    return taken
