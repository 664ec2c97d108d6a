"""Training with credit, by hand: the network is run in pieces, each with a loss of its own.

Every piece gets a detached input, and its own loss is ⟨its output, its credit⟩. This is the obvious
way for a network that can be run in pieces. The cut must give the same gradients for the network as
it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

Piece = Callable[[Tensor], Tensor]


def gradients_by_hand(
    model: nn.Module,
    pieces: tuple[Piece, Sequence[Piece], Piece],
    x: Tensor,
    loss: Callable[[Tensor], Tensor],
    credit: Sequence[Tensor],
) -> dict[str, Tensor | None]:
    """Return each parameter's gradient; the blocks return the stream."""
    embed, blocks, readout = pieces
    model.zero_grad()
    h = embed(x)
    total = (h * credit[0]).sum()
    for block, own in zip(blocks, credit[1:], strict=True):
        h = block(h.detach())
        total = total + (h * own).sum()
    (total + loss(readout(h.detach()))).backward()
    return take_gradients(model)


def take_gradients(model: nn.Module) -> dict[str, Tensor | None]:
    """Each parameter's `.grad`, which is then cleared."""
    taken = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    return taken
