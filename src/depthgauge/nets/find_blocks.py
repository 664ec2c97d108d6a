"""Find the block modules of any network."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch import nn

from depthgauge.errors import UserError

Blocks = str | Sequence[nn.Module] | None

SLICED = re.compile(r"(?P<path>[^\[\]]+)\[(?P<start>-?\d*):(?P<stop>-?\d*)\]")
"""A path with a slice, such as "encoder.layers[2:6]"."""


def find_blocks(model: nn.Module, blocks: Blocks = None) -> list[nn.Module]:
    """Return the blocks of a network.

    Args:
        model: the network.
        blocks: the modules, or a path; by default `model.blocks`. The path "transformer.h" means
            the modules in it, "encoder.layers[2:6]" some of them, and "stem,layers.0,layers.1"
            these modules themselves. A list may have slices too: "stage1[:],stage2[:]".
    """
    if blocks is not None and not isinstance(blocks, str):
        chosen = list(blocks)
    else:
        path = "blocks" if blocks is None else blocks
        chosen = _follow_path(model, path)
        if not chosen:
            raise UserError(_no_blocks(model, blocks))
    foreign = [block for block in chosen if all(block is not own for own in model.modules())]
    if not chosen or foreign:
        raise UserError(
            "the blocks that were given are not modules of the network; give its own modules, or "
            "the path to them"
        )
    return chosen


def _follow_path(model: nn.Module, path: str) -> list[nn.Module]:
    """Return the modules that a path names; none if it names no module."""
    parts = [part.strip() for part in path.split(",")]
    if len(parts) == 1:
        return _members(model, path)
    found: list[nn.Module] = []
    for part in parts:
        named = _members(model, part) if SLICED.fullmatch(part) else _module(model, part)
        if not named:
            raise UserError(
                f"{part!r} in the list of blocks {path!r} names no module of "
                f"{type(model).__name__}; {_list_modules(model)}"
            )
        found += named
    return found


def _members(model: nn.Module, path: str) -> list[nn.Module]:
    """Return the modules inside the module that a path names, or the slice of them."""
    sliced = SLICED.fullmatch(path)
    inside = [
        child
        for module in _module(model, sliced["path"] if sliced else path)
        for _, child in module._modules.items()
        if child is not None
    ]
    if sliced is None or not inside:
        return inside
    start, stop = (int(sliced[end]) if sliced[end] else None for end in ("start", "stop"))
    if not inside[start:stop]:
        raise UserError(
            f"the slice {path!r} has no blocks in it: there are {len(inside)}, counted from 0"
        )
    return inside[start:stop]


def _module(model: nn.Module, path: str) -> list[nn.Module]:
    """Return the one module that a path names, in a list; none if there is no such module."""
    try:
        return [model.get_submodule(path)] if path else []
    except AttributeError:
        return []


def _no_blocks(model: nn.Module, blocks: str | None) -> str:
    """Return why no blocks were found, and where blocks may be."""
    if isinstance(own := getattr(model, "blocks", None), nn.ModuleList) and not len(own):
        return f"{type(model).__name__} has no blocks in it, so there is no depth to diagnose"
    problem = (
        f"the path {blocks!r} matches no modules of {type(model).__name__}"
        if blocks is not None
        else f"{type(model).__name__} has no `blocks`, so the path to its blocks must be given"
    )
    return f"{problem}; {_list_modules(model)}"


def _list_modules(model: nn.Module) -> str:
    """Return the paths of the lists of modules in a network, in words."""
    lists = [f"{name!r} ({count} modules)" for name, count in module_lists(model).items()]
    return f"lists of modules in it: {', '.join(lists) or 'none'}"


def module_lists(model: nn.Module) -> dict[str, int]:
    """Return the path of each list of modules in a network, and how many modules it has."""
    return {
        name: len(module)
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList | nn.Sequential) and len(module) and name
    }
