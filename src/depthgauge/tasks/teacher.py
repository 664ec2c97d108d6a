"""The teacher task: a random deep sine network labels random points.

    h_0 = x,  h_j = sin(2·W_j h_{j−1}/√n_{j−1} + b_j) for j = 1..3,  s = V h_3
    y = argmax_c (s_c − m_c)/σ_c + o_c

x is a point, h_j is the output of layer j with its n_j units, s_c is the score of class c, and y is
the label. Every entry of W_j, b_j and V is drawn once from N(0, 1). The inputs are uniform with
zero mean and unit variance. m and σ are the mean and the standard deviation of the scores; the
offsets o make all classes about equally frequent. m, σ and o are fitted on points that are in
neither split. There is no label noise. docs/tasks/teacher.md says how this design was chosen.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from depthgauge.tasks.base import Split, Task

_SEED = 0
_INPUTS, _WIDTH, _DEPTH, _GAIN, _CLASSES = 3, 32, 3, 2.0, 10
_TRAIN, _TEST, _CALIBRATION = 8000, 4000, 10_000
_BALANCING_ROUNDS = 50


def load_teacher() -> Task:
    """Make the same task on every call; do not touch torch's global random state.

    The task's checksum is the same on every processor: uniform float32 inputs are exact, and
    labels are computed in float64, where rounding is too small to change a label.
    """
    generator = torch.Generator().manual_seed(_SEED)
    teacher = _Teacher(generator)
    calibration = teacher.scores(_draw_inputs(_CALIBRATION, generator))
    mean, std = calibration.mean(0), calibration.std(0)
    offset = _balancing_offset((calibration - mean) / std)

    x = _draw_inputs(_TRAIN + _TEST, generator)
    y = ((teacher.scores(x) - mean) / std + offset).argmax(1)
    return Task(
        name="teacher",
        train=Split(x[:_TRAIN], y[:_TRAIN]),
        evaluation=Split(x[_TRAIN:], y[_TRAIN:]),
        num_classes=_CLASSES,
    )


class _Teacher:
    """The random network that labels the points, in float64."""

    def __init__(self, generator: torch.Generator) -> None:
        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        self.layers: list[tuple[Tensor, Tensor]] = []
        fan_in = _INPUTS
        for _ in range(_DEPTH):
            weight = _GAIN * normal(_WIDTH, fan_in) / math.sqrt(fan_in)
            self.layers.append((weight, normal(_WIDTH)))
            fan_in = _WIDTH
        self.readout = normal(_CLASSES, fan_in)

    def scores(self, x: Tensor) -> Tensor:
        """Return one raw score for each sample and class: the s of the module's formula."""
        h = x.double()
        for weight, bias in self.layers:
            h = torch.sin(h @ weight.T + bias)
        return h @ self.readout.T


def _draw_inputs(count: int, generator: torch.Generator) -> Tensor:
    """Draw independent features, uniform on [−√3, √3]: zero mean, unit variance."""
    unit = torch.rand(count, _INPUTS, generator=generator, dtype=torch.float32)
    return math.sqrt(3) * (2 * unit - 1)


def _balancing_offset(scores: Tensor) -> Tensor:
    """Return an offset for each class that makes all classes about equally frequent.

    Each round compares the share of samples that a class wins with an equal share, 1/classes. The
    difference is subtracted from the offset of the class.
    """
    offset = torch.zeros(_CLASSES, dtype=scores.dtype)
    for _ in range(_BALANCING_ROUNDS):
        wins = torch.bincount((scores + offset).argmax(1), minlength=_CLASSES)
        offset -= wins.double() / len(scores) - 1 / _CLASSES
    return offset
