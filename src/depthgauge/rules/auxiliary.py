"""Small networks that a rule trains beside the network: kept in its feedback, moments and all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear

from depthgauge.nets.contract import ResidualNet

Tensors = Mapping[str, Tensor]

BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-8


class Features(NamedTuple):
    """What a bridge sees: the stream's direction, and beside it t, waves of t, and the signal.

    A residual stream may grow by orders of magnitude; its direction h/RMS(h) is what the readout
    sees. Many streams may share what is beside them.
    """

    direction: Tensor
    beside: Tensor


def features(stream: Tensor, time: float | Tensor, signal: Tensor, frequencies: int) -> Features:
    """Of each sample; beside its stream are t, sin and cos of 2ⁱπt for each i, and the signal.

    A stream may have leading axes that the signal has not; t may be one for each of them.
    """
    clock = torch.ones_like(signal[..., :1]) * time
    waves = [
        wave(2.0**i * math.pi * clock)
        for i in range(frequencies)
        for wave in (torch.sin, torch.cos)
    ]
    beside = [clock, *waves, signal.expand(*clock.shape[:-1], -1)]
    return Features(stream / rms(stream), torch.cat(beside, -1))


def clocks(times: Sequence[float], signal: Tensor) -> Tensor:
    """The times of as many streams, (times, samples, 1), without a copy from the host."""
    return torch.stack([torch.full_like(signal[:, :1], time) for time in times])


def features_width(net: ResidualNet, frequencies: int) -> int:
    """How many features that are."""
    classes, width = net.out_head.weight.shape
    return width + 1 + 2 * frequencies + classes


def rms(stream: Tensor) -> Tensor:
    """Root mean square over the features of each sample, never zero."""
    return stream.square().mean(-1, keepdim=True).add(torch.finfo(stream.dtype).tiny).sqrt()


class Auxiliary:
    """A multilayer perceptron with GELU, under a name in the rule's feedback, trained by Adam.

    It holds no tensors itself: everything is in the feedback, so it is saved with every checkpoint
    and lifted over runs like the rest of the rule.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def drawn(self, sizes: Sequence[int], generator: torch.Generator) -> dict[str, Tensor]:
        """Weights and biases from U(−1/√fan_in, 1/√fan_in), as PyTorch draws them."""
        parameters = {}
        for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
            bound = 1 / math.sqrt(inputs)
            for kind, shape in (("weight", (outputs, inputs)), ("bias", (outputs,))):
                drawn = torch.empty(shape).uniform_(-bound, bound, generator=generator)
                parameters[f"{self.name}.{layer}.{kind}"] = drawn
        return parameters

    def moments(self, parameters: Tensors) -> dict[str, Tensor]:
        """Adam's state before its first step."""
        zeros = {
            f"{kind}.{name}": torch.zeros_like(parameter)
            for name, parameter in parameters.items()
            for kind in ("first", "second")
        }
        return {f"steps.{self.name}": torch.zeros(()), **zeros}

    def parameters(self, feedback: Tensors) -> dict[str, Tensor]:
        """The network's weights and biases."""
        prefix = f"{self.name}."
        return {name: tensor for name, tensor in feedback.items() if name.startswith(prefix)}

    def __call__(self, parameters: Tensors, x: Tensor) -> Tensor:
        """Linear, GELU, Linear, …, Linear."""
        weight, bias = self._layer(parameters, 0)
        return self._above(parameters, linear(x, weight, bias))

    def of_features(self, parameters: Tensors, seen: Features) -> Tensor:
        """The same of features in two parts, of which the first Linear has the columns in a row.

        They are multiplied apart, so that what many streams have beside them is multiplied once.
        """
        width, (weight, bias) = seen.direction.shape[-1], self._layer(parameters, 0)
        beside = linear(seen.beside, weight[:, width:], bias)
        return self._above(parameters, linear(seen.direction, weight[:, :width]) + beside)

    def _above(self, parameters: Tensors, x: Tensor) -> Tensor:
        """What follows the first Linear."""
        for layer in range(1, len(parameters) // 2):
            x = linear(gelu(x), *self._layer(parameters, layer))
        return x

    def _layer(self, parameters: Tensors, layer: int) -> tuple[Tensor, Tensor]:
        own = f"{self.name}.{layer}"
        return parameters[f"{own}.weight"], parameters[f"{own}.bias"]

    def adam(self, feedback: Tensors, gradients: Tensors, rate: float) -> dict[str, Tensor]:
        """One step of Adam (Kingma & Ba, 2015): what of the feedback is different after it."""
        steps = feedback[f"steps.{self.name}"] + 1
        stepped = {f"steps.{self.name}": steps}
        for name, gradient in gradients.items():
            first = torch.lerp(feedback[f"first.{name}"], gradient, 1 - BETAS[0])
            second = torch.lerp(feedback[f"second.{name}"], gradient.square(), 1 - BETAS[1])
            size = (second / (1 - BETAS[1] ** steps)).sqrt() + ADAM_EPSILON
            moved = feedback[name] - rate / (1 - BETAS[0] ** steps) * first / size
            stepped |= {name: moved, f"first.{name}": first, f"second.{name}": second}
        return stepped
