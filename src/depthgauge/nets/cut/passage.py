"""Find the stream among a block's arguments and in what the block returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from depthgauge.errors import UserError

Returned = Literal["stream", "branch"]


@dataclass(frozen=True)
class Passage:
    """How the stream passes through the blocks of a network.

    Attributes:
        argument: the position or the name of the argument that is the stream; None is the first
            tensor among the arguments.
        returns: "stream" if a block returns the whole stream, "branch" if it returns a branch that
            the network adds to the stream.
        copies: whether states must be copied, because the network writes into the stream.
        through_frozen: whether frozen blocks must run with a graph, because something outside of
            them trains through them.
        draws: whether a forward pass in train mode draws random numbers, as dropout does. Random
            states are then recorded, so that parts of the pass can be run again alone.
    """

    argument: int | str | None = None
    returns: Returned = "stream"
    copies: bool = False
    through_frozen: bool = False
    draws: bool = False


def find_stream(
    block: int, args: tuple[Any, ...], kwargs: Mapping[str, Any], argument: int | str | None = None
) -> Tensor:
    """Return the stream among the arguments of a block.

    Args:
        block: the number of the block, for the error message.
        args: the block's positional arguments.
        kwargs: the block's keyword arguments.
        argument: the position or the name of the stream; None is the first tensor.
    """
    if argument is None:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                return value
        raise UserError(
            f"block {block} gets no tensor; give blocks whose first tensor is the stream"
        )
    known: dict[int | str, Any] = dict(enumerate(args))
    known.update(kwargs)
    if isinstance(value := known.get(argument), Tensor):
        return value
    numbers = {
        id(value): value
        for value in known.values()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    if len(numbers) == 1:
        return next(iter(numbers.values()))
    place = f"argument {argument}" if isinstance(argument, int) else f"the argument {argument!r}"
    raise UserError(
        f"block {block} gets no tensor as {place}, where other blocks get the stream; call all "
        "blocks in the same way"
    )


def first_tensor(block: int, output: Any) -> Tensor:
    """Return the first tensor in what a block returns: a tensor, a tuple, a list or a mapping."""
    if isinstance(output, Tensor):
        return output
    if isinstance(output, Mapping | tuple | list):
        for value in output.values() if isinstance(output, Mapping) else output:
            if isinstance(value, Tensor):
                return value
    raise UserError(
        f"block {block} returns {type(output).__name__} without a tensor in it; give blocks that "
        "return the stream"
    )


def replace_tensor(output: Any, old: Tensor, new: Tensor) -> Any:
    """Return a copy of what a block returned, with the tensor `old` replaced by `new`."""
    if isinstance(output, Tensor):
        return new
    if isinstance(output, Mapping):
        items = {name: new if value is old else value for name, value in output.items()}
        return type(output)(**items)
    values = [new if value is old else value for value in output]
    return type(output)(*values) if hasattr(output, "_fields") else type(output)(values)
