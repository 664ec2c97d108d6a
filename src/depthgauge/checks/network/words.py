"""Put what the probe saw of a network into words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from depthgauge.nets.cut.probe import Probe
from depthgauge.nets.layout import Layout

LONGEST = 4
"""The most modules that are named of one part."""


def describe_inputs(inputs: Any, source: str) -> str:
    """Say how many inputs of which shape there are."""
    tensors = inputs.values() if isinstance(inputs, Mapping) else [inputs]
    shapes = [
        f"{len(value)} samples of {_kind(value)}" for value in tensors if isinstance(value, Tensor)
    ]
    return f"{shapes[0] if shapes else 'your batch'}, {source}"


def _kind(value: Tensor) -> str:
    shape = " × ".join(map(str, value.shape[1:])) or "1"
    return f"{shape} {'numbers' if value.is_floating_point() else 'whole numbers'}"


def describe_stream(probe: Probe, layout: Layout) -> str:
    """Say which argument is the stream, what shape it has, and what blocks return."""
    if probe.passage is None or not probe.shapes:
        return ""
    argument = probe.passage.argument
    where = f"argument {argument}" if not isinstance(argument, str) else f"the argument {argument}"
    what = "the whole stream" if probe.passage.returns == "stream" else "a branch that is added"
    shapes = [describe_shape(shape, layout) for shape in probe.shapes]
    changes = [
        f"{shape} after block {index - 1}"
        for index, shape in enumerate(shapes)
        if index and shape != shapes[index - 1]
    ]
    return f"{where} of each block, {'; '.join([shapes[0], *changes])}; blocks return {what}"


def describe_shape(shape: Sequence[int], layout: Layout) -> str:
    """Say how many positions and features a state of this shape has."""
    axes = list(range(len(shape)))
    features = axes[layout.feature_axis_of(len(shape))]
    positions = [shape[axis] for axis in axes if axis not in (features, layout.sample_axis)]
    if not positions:
        return f"{shape[features]} features"
    word = "position" if positions == [1] else "positions"
    return f"{' × '.join(map(str, positions))} {word} × {shape[features]} features"


def modules_that_follow(
    model: nn.Module, blocks: Sequence[nn.Module], owners: Mapping[str, Collection[str]], own: str
) -> tuple[str, ...]:
    """Return the largest modules outside the blocks whose parameters all follow one credit."""
    inside = {id(module) for block in blocks for module in block.modules()}
    found: list[str] = []

    def walk(name: str, module: nn.Module) -> None:
        prefix = f"{name}." if name else ""
        parameters = [n for n in owners if n.startswith(prefix)]
        followers = [n for n in parameters if own in owners[n]]
        has_blocks = any(id(m) in inside for m in module.modules())
        if id(module) in inside or not followers:
            return
        if name and len(followers) == len(parameters) and not has_blocks:
            found.append(name)
            return
        found.extend(n for n in followers if "." not in n.removeprefix(prefix))
        for child, inner in module.named_children():
            walk(f"{prefix}{child}", inner)

    walk("", model)
    more = len(found) - LONGEST
    return (*found[:LONGEST], *([f"{more} more"] if more > 0 else []))
