"""Find the block modules of any network."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from depthgauge.errors import UserError

Blocks = str | Sequence[nn.Module] | None


def find_blocks(model: nn.Module, blocks: Blocks = None) -> list[nn.Module]:
    """Return the blocks of a network.

    Args:
        model: the network.
        blocks: a dotted path such as "transformer.h", or the modules; by default `model.blocks`.
    """
    if blocks is not None and not isinstance(blocks, str):
        chosen = list(blocks)
    else:
        path = "blocks" if blocks is None else blocks
        try:
            chosen = list(model.get_submodule(path).children()) if path else []
        except AttributeError:
            chosen = []
        if not chosen:
            raise UserError(_no_blocks(model, blocks))
    foreign = [block for block in chosen if all(block is not own for own in model.modules())]
    if not chosen or foreign:
        raise UserError(
            "the blocks that were given are not modules of the network; give its own modules, or "
            "the path to them"
        )
    return chosen


def _no_blocks(model: nn.Module, blocks: str | None) -> str:
    """Return why no blocks were found, and where blocks may be."""
    if isinstance(own := getattr(model, "blocks", None), nn.ModuleList) and not len(own):
        return f"{type(model).__name__} has no blocks in it, so there is no depth to diagnose"
    problem = (
        f"the path {blocks!r} matches no modules of {type(model).__name__}"
        if blocks is not None
        else f"{type(model).__name__} has no `blocks`, so the path to its blocks must be given"
    )
    lists = [
        f"{name!r} ({len(module)} modules)"
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList | nn.Sequential) and len(module) and name
    ]
    return f"{problem}; lists of modules in it: {', '.join(lists) or 'none'}"
