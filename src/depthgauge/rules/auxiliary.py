"""Small networks that a rule trains beside the network: kept in its feedback, moments and all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear

from depthgauge.nets.contract import ResidualNet

Tensors = Mapping[str, Tensor]

BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-8


def features(stream: Tensor, time: Tensor, signal: Tensor, frequencies: int) -> Tensor:
    """What a bridge sees: the stream divided by its RMS, t, sin and cos of 2ⁱπt, and the signal.

    A residual stream may grow by orders of magnitude; its direction is what the readout sees.
    """
    waves = [
        wave(2.0**i * math.pi * time) for i in range(frequencies) for wave in (torch.sin, torch.cos)
    ]
    seen = [stream / rms(stream), time, *waves, signal.expand(*stream.shape[:-1], -1)]
    return torch.cat(seen, -1)


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
        layers = len(parameters) // 2
        for layer in range(layers):
            own = f"{self.name}.{layer}"
            x = linear(x, parameters[f"{own}.weight"], parameters[f"{own}.bias"])
            x = gelu(x) if layer < layers - 1 else x
        return x

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
