"""What a probe of one batch tells about the network of a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from depthgauge.config import NetConfig
from depthgauge.losses.registry import find_loss
from depthgauge.nets.cut.passage import Passage
from depthgauge.nets.cut.probe import Probe, Returns, probe
from depthgauge.nets.layout import layout_of
from depthgauge.nets.measured_size import NetworkSize, measure_size
from depthgauge.nets.net_shape import NetShape, without
from depthgauge.nets.registry import boundary_blocks, initial_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import as_inputs

SAMPLES = 7
"""The number of training samples on which a network is run.

It is hardly the number of tokens or features of a network, so the axis of the samples is known.
"""

Key = tuple[str, str]
"""The text of a network's configuration, and the checksum of the task."""

_PROBES: dict[Key, Probe] = {}
_SIZES: dict[Key, NetworkSize] = {}


def probe_of(config: NetConfig, task: Task) -> Probe:
    """Return the probe of a network on samples of a task (cached)."""
    key = _key(config, task)
    if key not in _PROBES:
        net = initial_net(config, task, seed=0)
        inputs, labels = first_samples(task)
        returns: Returns = "auto" if config.blocks else "stream"
        blocks = boundary_blocks(net, config)
        losses = find_loss(task.loss).value
        _PROBES[key] = probe(net, blocks, inputs, labels, losses, returns=returns)
    return _PROBES[key]


def size_of(config: NetConfig, task: Task) -> NetworkSize:
    """Return the size of a network on the samples of a task (cached)."""
    key = _key(config, task)
    if key not in _SIZES:
        _SIZES[key] = measure_size(initial_net(config, task, seed=0), first_samples(task)[0])
    return _SIZES[key]


def shape_of(net: nn.Module, config: NetConfig, task: Task) -> NetShape:
    """Return what a rule may know of a network when it draws its feedback."""
    if not isinstance(net, ResidualMLP):
        return probed_shape(config, task)
    shape = NetShape.of(net)
    return replace(shape, classes=None) if task.is_regression else shape


def probed_shape(config: NetConfig, task: Task) -> NetShape:
    """Return the shape of a network of any kind; its blocks are functions of the whole stream."""
    seen = probe_of(config, task)
    shapes = seen.shapes[: config.blocks + 1]
    layout = layout_of(shapes, seen.output[0])
    states = tuple(without(shape, layout.sample_axis) for shape in shapes)
    classes = None if task.is_regression else task.num_classes
    return NetShape(
        states, seen.output[1:], classes, layout, residual=False, refusals=seen.refusals
    )


def passage_of(net: nn.Module, config: NetConfig, task: Task) -> Passage:
    """Return how the stream passes through the blocks of a network."""
    if isinstance(net, ResidualMLP):
        return Passage(returns="branch" if net.residual_add and net.num_blocks else "stream")
    return probe_of(config, task).passage or Passage()


def owners_of(net: nn.Module, config: NetConfig, task: Task) -> Mapping[str, Sequence[str]]:
    """Return for each parameter the names of the credits that it follows.

    They are not needed for a ResidualMLP, whose parts have names of their own.
    """
    return {} if isinstance(net, ResidualMLP) else probe_of(config, task).owners


def first_samples(task: Task) -> tuple[Tensor, Tensor]:
    """Return a few training samples as inputs of a network, and their labels."""
    return as_inputs(task.train.x[:SAMPLES], task, torch.float32), task.train.y[:SAMPLES]


def _key(config: NetConfig, task: Task) -> Key:
    """Return the key of a network; the width of a user's network is known after its probe only."""
    own = config.model_copy(update={"width": 1}) if config.source else config
    return own.as_text, task.checksum
