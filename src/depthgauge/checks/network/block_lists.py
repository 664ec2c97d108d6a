"""Find lists of modules in a network that could be its blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby

import torch
from torch import nn

from depthgauge.nets.preserve_state import preserve_state

LEAST = 2
"""A list of blocks has at least this many modules."""


def find_block_lists(model: nn.Module) -> list[str]:
    """Return paths to lists of modules that could be blocks, the largest lists first.

    A list has modules with parameters, all of one class: the modules in a ModuleList, a Sequential
    or a ModuleDict; neighbours in any module; or the modules in neighbouring lists (stages).
    """
    found: dict[str, int] = {}
    for name, module in model.named_modules():
        children = [(n, c) for n, c in module.named_children() if _size(c)]
        if isinstance(module, nn.ModuleList | nn.Sequential | nn.ModuleDict):
            whole = [c for _, c in children]
            if name and len(children) == len(module) and _are_alike(whole):
                found.setdefault(name, sum(map(_size, whole)))
                continue
        for run in _runs(children):
            path = ",".join(f"{name}.{n}" if name else n for n, _ in run)
            if all(_is_stage(c) for _, c in run):
                path = ",".join(f"{part}[:]" for part in path.split(","))
            found.setdefault(path, sum(_size(c) for _, c in run))
    return sorted(found, key=lambda path: -found[path])


def find_repeated(model: nn.Module, run: Callable[[], object]) -> str | None:
    """Return the path to the largest module that runs several times, once for each time.

    Args:
        model: the network.
        run: runs its forward pass.
    """
    counts: Counter[str] = Counter()
    handles = [
        module.register_forward_pre_hook(lambda *_, name=name: counts.update([name]))
        for name, module in model.named_modules()
        if name
    ]
    try:
        with preserve_state(model), torch.no_grad():
            run()
    finally:
        for handle in handles:
            handle.remove()
    repeated = [n for n, c in counts.items() if c >= LEAST and _size(model.get_submodule(n))]
    if not repeated:
        return None
    largest = max(repeated, key=lambda name: _size(model.get_submodule(name)))
    return ",".join([largest] * counts[largest])


def _runs(children: list[tuple[str, nn.Module]]) -> list[list[tuple[str, nn.Module]]]:
    """Return the runs of neighbours of one class, and of stages with modules of one class."""
    runs = [list(run) for _, run in groupby(children, key=lambda child: _class(child[1]))]
    return [run for run in runs if len(run) >= LEAST]


def _class(module: nn.Module) -> tuple[str, type[nn.Module]]:
    """Return the class of a module; for a stage, the class of the modules in it."""
    if _is_stage(module):
        return "stage of", type(next(iter(module.children())))
    return "", type(module)


def _is_stage(module: nn.Module) -> bool:
    return isinstance(module, nn.ModuleList | nn.Sequential) and _are_alike(list(module.children()))


def _are_alike(modules: list[nn.Module]) -> bool:
    return len(modules) >= LEAST and len({type(m) for m in modules}) == 1 and _size(modules[0]) > 0


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
