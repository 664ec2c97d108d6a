"""State Bridge: a small network learns to predict the last state h_L from earlier states.

The credit is the gradient of the loss at this prediction.
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.auxiliary import (
    Auxiliary,
    Tensors,
    clocks,
    features,
    features_width,
    flatten,
    rms,
    why_not_uniform,
)
from depthgauge.rules.contract import Context, Credit, NormalisedOptions, Rule
from depthgauge.rules.positions import by_position, like_stream


class StateBridgeOptions(NormalisedOptions):
    """Options of State Bridge; defaults were measured (docs/rules/state_bridge.md)."""

    at: Literal["input", "output"] = Field(
        default="input", description="where a block's credit is computed: at its input or output"
    )
    hidden: int = Field(default=256, ge=1, description="width of the bridge's hidden layers")
    layers: int = Field(default=3, ge=1, description="number of Linears of the bridge")
    rate: float = Field(
        default=1e-3, gt=0, allow_inf_nan=False, description="constant learning rate of Adam"
    )
    frequencies: int = Field(default=0, ge=0, description="pairs of sin and cos of the time t")
    skip: bool = Field(default=False, description="the bridge learns h_L − h_l instead of h_L")


class StateBridge(Rule):
    """State Bridge: block l gets the gradient of the loss at a prediction of the last state h_L.

    The bridge G learns to predict h_L from every h_l: it minimises
    mean ‖G(h_l, t_l, e) − h_L‖²/‖h_L‖². Its outputs are in units of the stream's RMS, so that the
    same G works for a stream that grows.

    In a stream with positions G acts on the features of each position, and the RMS is that of the
    whole sample.
    """

    name = "state_bridge"
    summary = "State Bridge: the gradient of the loss at a learned prediction of the last state"
    needs = frozenset({"error", "readout"})
    Options = StateBridgeOptions
    options: StateBridgeOptions
    bridge = Auxiliary("G")

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw the bridge; return it with the moments of its optimizer."""
        inputs, width = features_width(net, self.options.frequencies), net.width
        hidden = [self.options.hidden] * (self.options.layers - 1)
        parameters = self.bridge.drawn([inputs, *hidden, width], generator)
        return parameters | self.bridge.moments(parameters)

    def why_not(self, net: NetShape) -> str | None:
        """Refuse states of several shapes, since one bridge serves all of them."""
        return super().why_not(net) or why_not_uniform(self.name, net)

    def predict(
        self, parameters: Tensors, stream: Tensor, time: float | Tensor, error: Tensor
    ) -> Tensor:
        """Return G(h, t, e), the prediction of h_L."""
        seen = features(stream, time, error, self.options.frequencies)
        output = rms(stream, error.dim() - 1) * self.bridge.of_features(parameters, seen)
        return stream + output if self.options.skip else output

    def credit(self, context: Context) -> Credit:
        """Return the gradients of each sample's own loss through the bridge."""
        bridge, blocks = self.bridge.parameters(context.feedback), len(context.states) - 1
        layout, error = context.layout, flatten(context).signal

        def at(index: int) -> Tensor:
            if index == blocks:
                return context.last_gradient
            time = index / blocks

            def loss(stream: Tensor) -> Tensor:
                end = self.predict(bridge, by_position(stream, layout), time, error)
                output = context.readout(like_stream(end, stream, layout))
                return context.loss.value(output, context.target).sum()

            slope: Tensor = torch.func.grad(loss)(context.states[index])
            return slope

        slopes = [at(0), *(at(index) for index in range(1, blocks))]
        if self.options.at == "input":
            return Credit(blocks=slopes[:blocks], embed=slopes[0])
        return Credit(blocks=[*slopes[1:], at(blocks)][:blocks], embed=slopes[0])

    def learn(self, context: Context) -> dict[str, Tensor]:
        """Train the bridge for one step on all states of the batch."""
        (*states, last), error = flatten(context)
        if not states:
            return {}
        times = clocks([index / len(states) for index in range(len(states))], error)
        streams, unit = torch.stack(states), rms(last, error.dim() - 1)

        def loss(parameters: Tensors) -> Tensor:
            missed = self.predict(parameters, streams, times, error) - last
            return (missed / unit).square().mean()

        gradients = torch.func.grad(loss)(self.bridge.parameters(context.feedback))
        return self.bridge.adam(context.feedback, gradients, self.options.rate)
