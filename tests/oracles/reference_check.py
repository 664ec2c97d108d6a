"""Find the parts of a network whose backward pass is not Jᵀg, with Jacobians column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

STEP = 1e-6
CLOSE = 1e-6


def jacobian_by_values(piece: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """(outputs, inputs), each column from two values of the piece."""
    flat = at.flatten()
    columns = []
    for index in range(len(flat)):
        shift = torch.zeros_like(flat)
        shift[index] = STEP
        ends = [piece((flat + sign * shift).view(at.shape)).flatten() for sign in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * STEP))
    return torch.stack(columns, 1)


def wrong_pieces(pieces: Sequence[Callable[[Tensor], Tensor]], start: Tensor) -> list[int]:
    """The pieces, blocks and then the readout, whose own backward pass is not J^T."""
    wrong, state = [], start.detach()
    for index, piece in enumerate(pieces):
        leaf = state.clone().requires_grad_()
        output = piece(leaf)
        back = torch.randn(output.shape, dtype=output.dtype)
        down = torch.zeros_like(leaf)
        if output.requires_grad:
            (found,) = torch.autograd.grad(output, leaf, back, allow_unused=True)
            down = down if found is None else found
        with torch.no_grad():
            expected = jacobian_by_values(piece, state).T @ back.flatten()
        if float((down.flatten() - expected).norm()) > CLOSE * float(expected.norm() + 1):
            wrong.append(index)
        state = output.detach()
    return wrong
