"""Find which argument of a block is the stream: the one that follows the block before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from depthgauge.errors import UserError
from depthgauge.nets.cut.passage import first_tensor, replace_tensor
from depthgauge.nets.cut.trial import watch_calls


class Argument(NamedTuple):
    """A copy of an argument, and the identity of the object that was passed."""

    value: Any
    identity: int


Arguments = dict[int | str, Argument]


def find_stream_argument(
    run: Callable[[], object], blocks: Sequence[nn.Module]
) -> int | str | None:
    """Return the position or the name of the stream among the arguments of a block.

    The first tensor that the first call returns is shifted. Exactly one argument of the second call
    must move, and no other one if everything that the first call returns is shifted. The stream may
    be passed several times, as query, key and value. If there is one call alone, the first argument
    with floating-point numbers is the stream.

    Args:
        run: runs the network's forward pass, each time from the same state.
        blocks: its blocks.
    """
    first, second = _arguments(run, blocks)
    if not second:
        return next((k for k, own in first.items() if _is_float(own.value)), None)
    changed = _changed(second, _arguments(run, blocks, _shift_first)[1])
    streams = [key for key in changed if isinstance(second[key].value, Tensor)]
    if not changed:
        raise UserError(
            "the first block's output does not reach the second block: the blocks run in parallel, "
            "or a block writes into its input and its result is not used; let blocks return the "
            "stream, and give blocks that run one after the other"
        )
    if not streams:
        raise UserError(
            f"the stream is inside the {type(second[changed[0]].value).__name__} that blocks get "
            "as argument; give the stream to blocks as an argument of its own"
        )
    changed = _changed(second, _arguments(run, blocks, _shift_all)[1])
    if len({second[key].identity for key in changed}) > 1:
        names = " and ".join(map(_name, changed[:2]))
        raise UserError(
            f"two arguments of a block follow the block before ({names}), so there are two "
            "streams; join them into one tensor"
        )
    return streams[0]


def guess_stream_argument(
    run: Callable[[], object], blocks: Sequence[nn.Module]
) -> int | str | None:
    """Return the only argument with floating-point numbers, or else what a shift tells.

    None means the first tensor; it is returned where a shift does not tell.
    """
    try:
        first, _ = _arguments(run, blocks)
        numbers = [key for key, own in first.items() if _is_float(own.value)]
        if len(numbers) == 1:
            return numbers[0]
        return find_stream_argument(run, blocks)
    except UserError:
        return None


@torch.no_grad()
def _arguments(
    run: Callable[[], object],
    blocks: Sequence[nn.Module],
    shift: Callable[[Any], Any] | None = None,
) -> tuple[Arguments, Arguments]:
    """Return copies of the arguments of the first two calls; `shift` changes the first output."""
    seen: list[Arguments] = [{}, {}]

    def before(call: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if call <= 1:
            named: dict[int | str, Any] = dict(enumerate(args))
            named.update(kwargs)
            seen[call] = {key: Argument(_copy(v), id(v)) for key, v in named.items()}

    def after(call: int, output: Any) -> Any:
        return None if call or shift is None else shift(output)

    with watch_calls(blocks, before, after):
        run()
    return seen[0], seen[1]


def _shift_first(output: Any) -> Any:
    stream = first_tensor(0, output)
    return replace_tensor(output, stream, stream + noise_like(stream))


def _shift_all(output: Any) -> Any:
    return tree_map(lambda value: value + noise_like(value) if _is_float(value) else value, output)


def _changed(before: Arguments, after: Arguments) -> list[int | str]:
    return [
        key
        for key, own in before.items()
        if key not in after or _differ(own.value, after[key].value)
    ]


def noise_like(stream: Tensor) -> Tensor:
    """Return random numbers as large as the stream, without a global random state."""
    noise = torch.randn(stream.shape, generator=torch.Generator().manual_seed(1))
    size = float(stream.double().square().mean().sqrt()) or 1.0
    return (size * noise).to(stream)


def _copy(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    leaves = [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
    return type(value)(leaf.clone() for leaf in leaves) if type(value) in (tuple, list) else None


def _differ(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return not isinstance(b, Tensor) or a.shape != b.shape or not torch.equal(a, b)
    return isinstance(a, tuple | list) and any(map(_differ, a, b))


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _name(key: int | str) -> str:
    return f"argument {key}" if isinstance(key, int) else repr(key)
