"""Small networks that a rule trains for itself.

Their weights are in the rule's feedback, which holds all tensors that a rule keeps for a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.contract import Context
from depthgauge.rules.positions import by_position, error_at

Tensors = Mapping[str, Tensor]

BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-8


class Features(NamedTuple):
    """The input of an auxiliary network in two parts.

    Attributes:
        direction: the stream h divided by its RMS, as the readout sees it too. The stream itself is
            not used, because it may grow by orders of magnitude.
        beside: the other features: the time t, sines and cosines of t, and the signal. The time
            of state h_l is l/L, with L blocks. Several streams can share these features.
    """

    direction: Tensor
    beside: Tensor


def features(stream: Tensor, time: float | Tensor, signal: Tensor, frequencies: int) -> Features:
    """Return the features of each sample: the stream's direction, and the other features.

    Args:
        stream: (samples, d), or (samples, positions, d); it may have leading axes that the signal
            does not have.
        time: the time t: one number, or a tensor with a number for each index of the leading axes.
        signal: another input of the auxiliary network, for instance the error: (samples, c), or
            (samples, positions, c) with the stream's positions or with one for all of them.
        frequencies: the number of pairs sin(2ⁱπt), cos(2ⁱπt), i = 0, 1, ….
    """
    clock = torch.ones_like(signal[..., :1]) * time
    waves = [
        wave(2.0**i * math.pi * clock)
        for i in range(frequencies)
        for wave in (torch.sin, torch.cos)
    ]
    beside = [clock, *waves, signal.expand(*clock.shape[:-1], -1)]
    return Features(stream / rms(stream, signal.dim() - 1), torch.cat(beside, -1))


def clocks(times: Sequence[float], signal: Tensor) -> Tensor:
    """Return times as a tensor (times, samples, …, 1) on the signal's device.

    `full_like` makes the tensor on a GPU without a copy from the CPU.
    """
    return torch.stack([torch.full_like(signal[..., :1], time) for time in times])


def features_width(net: NetShape, frequencies: int) -> int:
    """Return how many features `features` returns for this network."""
    return net.width + 1 + 2 * frequencies + net.error_width


def rms(stream: Tensor, axes: int = 1) -> Tensor:
    """Return the root mean square over the last `axes` axes, those of a sample; never zero."""
    over = tuple(range(-axes, 0))
    return stream.square().mean(over, keepdim=True).add(torch.finfo(stream.dtype).tiny).sqrt()


class Flat(NamedTuple):
    """A batch for auxiliary networks that act on the features of each position.

    Attributes:
        states: h_0 … h_L, each (samples, d), or (samples, positions, d).
        signal: the error: (samples, c); where the stream has positions (samples, positions, c), or
            (samples, 1, c) if one error holds for all positions.
    """

    states: list[Tensor]
    signal: Tensor


def flatten(context: Context) -> Flat:
    """Return the states with their features last, and the error of each position."""
    states = [by_position(state, context.layout) for state in context.states]
    signal = error_at(context.error, context.states[-1], context.layout)
    if signal.dim() < states[-1].dim():
        signal = signal.unsqueeze(1)
    return Flat(states, signal)


def why_not_uniform(name: str, net: NetShape) -> str | None:
    """Return why a rule whose network serves all states cannot train states of several shapes."""
    if net.is_uniform:
        return None
    first, last = net.state_shapes[0], net.state_shapes[-1]
    return (
        f"the rule {name} has one network for all states, which must have one shape; here h_0 has "
        f"the shape {first} and h_{net.num_blocks} the shape {last}"
    )


class Auxiliary:
    """A multilayer perceptron with GELU that a rule trains with Adam.

    The object holds no tensors. All tensors are in the rule's feedback, under the network's name.
    So they are saved with every checkpoint, and `vmap` runs many auxiliary networks at once.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def drawn(self, sizes: Sequence[int], generator: torch.Generator) -> dict[str, Tensor]:
        """Draw weights and biases from U(−1/√fan_in, 1/√fan_in), as PyTorch's Linear does."""
        parameters = {}
        for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
            bound = 1 / math.sqrt(inputs)
            for kind, shape in (("weight", (outputs, inputs)), ("bias", (outputs,))):
                drawn = torch.empty(shape).uniform_(-bound, bound, generator=generator)
                parameters[f"{self.name}.{layer}.{kind}"] = drawn
        return parameters

    def moments(self, parameters: Tensors) -> dict[str, Tensor]:
        """Return Adam's state before its first step."""
        zeros = {
            f"{kind}.{name}": torch.zeros_like(parameter)
            for name, parameter in parameters.items()
            for kind in ("first", "second")
        }
        return {f"steps.{self.name}": torch.zeros(()), **zeros}

    def parameters(self, feedback: Tensors) -> dict[str, Tensor]:
        """Return the network's weights and biases from the rule's feedback."""
        prefix = f"{self.name}."
        return {name: tensor for name, tensor in feedback.items() if name.startswith(prefix)}

    def __call__(self, parameters: Tensors, x: Tensor) -> Tensor:
        """Apply Linear, GELU, Linear, …, Linear to x."""
        weight, bias = self._layer(parameters, 0)
        return self._later_layers(parameters, linear(x, weight, bias))

    def of_features(self, parameters: Tensors, seen: Features) -> Tensor:
        """Apply the network to features in two parts.

        The first Linear multiplies the parts separately and adds the products, so features that
        many streams share are multiplied once.
        """
        width, (weight, bias) = seen.direction.shape[-1], self._layer(parameters, 0)
        beside = linear(seen.beside, weight[:, width:], bias)
        return self._later_layers(parameters, linear(seen.direction, weight[:, :width]) + beside)

    def _later_layers(self, parameters: Tensors, x: Tensor) -> Tensor:
        """Apply everything after the first Linear."""
        for layer in range(1, len(parameters) // 2):
            x = linear(gelu(x), *self._layer(parameters, layer))
        return x

    def _layer(self, parameters: Tensors, layer: int) -> tuple[Tensor, Tensor]:
        own = f"{self.name}.{layer}"
        return parameters[f"{own}.weight"], parameters[f"{own}.bias"]

    def adam(self, feedback: Tensors, gradients: Tensors, rate: float) -> dict[str, Tensor]:
        """Make one step of Adam (Kingma & Ba, 2015); return the tensors of feedback that change."""
        steps = feedback[f"steps.{self.name}"] + 1
        changed = {f"steps.{self.name}": steps}
        for name, gradient in gradients.items():
            first = torch.lerp(feedback[f"first.{name}"], gradient, 1 - BETAS[0])
            second = torch.lerp(feedback[f"second.{name}"], gradient.square(), 1 - BETAS[1])
            size = (second / (1 - BETAS[1] ** steps)).sqrt() + ADAM_EPSILON
            moved = feedback[name] - rate / (1 - BETAS[0] ** steps) * first / size
            changed |= {name: moved, f"first.{name}": first, f"second.{name}": second}
        return changed
