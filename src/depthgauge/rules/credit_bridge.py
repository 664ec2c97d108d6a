"""Credit Bridge: a value network learns to predict the loss; its gradient is the credit."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from depthgauge.rules.contract import Context, Credit, NormalisedOptions
from depthgauge.rules.dfa import DFA
from depthgauge.rules.positions import VECTORS, by_position, like_stream

SMALLEST = 1e-12
"""The matching loss divides by the mean of ‖RMS(h_L)·g_L‖² over samples, but at least by this."""


class CreditBridgeOptions(NormalisedOptions):
    """Options of Credit Bridge.

    Defaults come from the published toy experiment. Defaults that the experiment does not give were
    measured (docs/rules/credit_bridge.md).
    """

    hidden: int = Field(default=256, ge=1, description="width of the value network's hidden layers")
    layers: int = Field(default=3, ge=1, description="number of Linears of the value network")
    rate: float = Field(
        default=1e-3, gt=0, allow_inf_nan=False, description="constant learning rate of Adam"
    )
    frequencies: int = Field(default=0, ge=0, description="pairs of sin and cos of the time t")
    copies: int = Field(default=8, ge=1, description="number K of noisy copies of each next state")
    sigma: float = Field(
        default=0.1,
        ge=0,
        allow_inf_nan=False,
        description="noise of the copies, in units of h's RMS",
    )
    temperature: float = Field(
        default=0.1, gt=0, allow_inf_nan=False, description="temperature of the soft minimum"
    )
    ema: float = Field(default=0.995, ge=0, lt=1, description="decay of the target network V̄")
    matching: float = Field(
        default=1000.0, ge=0, allow_inf_nan=False, description="weight of matching ∇V to g_L at h_L"
    )
    warm_up: float = Field(
        default=0.2, ge=0, lt=1, description="first share of training, which uses DFA's credit"
    )


class CreditBridge(DFA):
    """Credit Bridge: the credit of block l is a_l = ∇_h V(h_l, t_l, e), at the block's input.

    V has three targets. V(h_L) should be the loss. V(h_l) should be the soft minimum
    −τ·log mean_k exp(−V̄(h_{l+1} + σ·noise_k)/τ), where V̄ is a moving average of V. And ∇V(h_L)
    should be g_L; this error is measured in units of 1/RMS(h_L), relative to the batch's mean
    square of g_L. Without the third target V can predict the loss from the error e alone, and then
    ∇V means nothing. At the start of training the network gets DFA's credit, until V has learned.

    In a stream with positions V is the sum over positions of a network of each position's features.
    """

    name = "credit_bridge"
    summary = "Credit Bridge: the gradient of a learned value function"
    needs = frozenset({"error", "readout"})
    Options = CreditBridgeOptions
    options: CreditBridgeOptions
    value, average = Auxiliary("V"), Auxiliary("A")

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw DFA's matrices and V; return them with V's moving average and Adam's moments."""
        inputs = features_width(net, self.options.frequencies)
        hidden = [self.options.hidden] * (self.options.layers - 1)
        direct = super().feedback(net, generator)
        value = self.value.drawn([inputs, *hidden, 1], generator)
        average = {name.replace("V", "A", 1): tensor.clone() for name, tensor in value.items()}
        return direct | value | self.value.moments(value) | average

    def why_not(self, net: NetShape) -> str | None:
        """Refuse states of several shapes, since one value network serves all of them."""
        return super().why_not(net) or why_not_uniform(self.name, net)

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...]:
        """Return the shape of the noise: K noisy copies of each of the states h_1 … h_L."""
        return (self.options.copies, len(states) - 1, *states[0].shape)

    def predict(
        self,
        network: Auxiliary,
        parameters: Tensors,
        stream: Tensor,
        time: float | Tensor,
        error: Tensor,
    ) -> Tensor:
        """Return V(h, t, e), the predicted loss, of each sample.

        `network` is V or its moving average. The stream h may have leading axes. The time t is then
        one number for all indices of these axes, or a tensor with a number for each index.
        """
        seen = features(stream, time, error, self.options.frequencies)
        values = network.of_features(parameters, seen).squeeze(-1)
        return values if error.dim() == VECTORS else values.sum(-1)

    def slope(
        self, parameters: Tensors, stream: Tensor, time: float | Tensor, error: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the gradient ∇_h V of each sample, and the value V."""

        def total(h: Tensor) -> tuple[Tensor, Tensor]:
            values = self.predict(self.value, parameters, h, time, error)
            return values.sum(), values

        slope, values = torch.func.grad(total, has_aux=True)(stream)
        return slope, values

    def credit(self, context: Context) -> Credit:
        """Return ∇V at every block's input, or DFA's credit at the start of training."""
        if context.progress < self.options.warm_up:
            return super().credit(context)
        value = self.value.parameters(context.feedback)
        states, error = flatten(context)
        inputs = torch.stack(states[:-1] or states)
        times = clocks(_times(context)[: len(inputs)], error)
        slopes, _ = self.slope(value, inputs, times, error)
        credit = [like_stream(slope, context.states[0], context.layout) for slope in slopes]
        return Credit(blocks=credit[: len(context.states) - 1], embed=credit[0])

    def projected(self, context: Context) -> Tensor | None:
        """Return DFA's source while the credit is DFA's, and None later."""
        return super().projected(context) if context.progress < self.options.warm_up else None

    def learn(self, context: Context) -> dict[str, Tensor]:
        """Train V for one step, and update its moving average."""
        (*earlier, last), error = flatten(context)
        losses, slopes = _losses_and_gradients(context)
        minima, unit = self._soft_minima(context), rms(last, error.dim() - 1)
        total = (slopes * unit).square().sum().clamp_min(SMALLEST * len(losses))

        def loss(parameters: Tensors) -> Tensor:
            slope, values = self.slope(parameters, last, 1.0, error)
            mismatch = ((slope - slopes) * unit).square().sum() / total
            loss_at_last = (values - losses).square().mean() + self.options.matching * mismatch
            if not earlier:
                return loss_at_last
            streams, times = torch.stack(earlier), clocks(_times(context)[:-1], error)
            before = self.predict(self.value, parameters, streams, times, error)
            return loss_at_last + (before - torch.stack(minima)).square().mean(1).sum()

        gradients = torch.func.grad(loss)(self.value.parameters(context.feedback))
        learned = self.value.adam(context.feedback, gradients, self.options.rate)
        average = self.average.parameters(context.feedback)
        return learned | {
            name: torch.lerp(learned[name.replace("A", "V", 1)], before, self.options.ema)
            for name, before in average.items()
        }

    def _soft_minima(self, context: Context) -> list[Tensor]:
        """Return for each block the soft minimum of V̄ over noisy copies of the next state.

        V̄ is the moving average of V.
        """
        average = self.average.parameters(context.feedback)
        minima, (states, error) = [], flatten(context)
        for index, time in enumerate(_times(context)[1:]):
            stream, size = states[index + 1], rms(states[index + 1], error.dim() - 1)
            noise = context.noise[:, index]
            if stream.dim() > VECTORS:
                noise = torch.stack([by_position(copy, context.layout) for copy in noise])
            copies = torch.addcmul(stream, size, noise, value=self.options.sigma)
            values = self.predict(self.average, average, copies, time, error)
            exponents = -values / self.options.temperature
            mean = torch.logsumexp(exponents, 0) - math.log(self.options.copies)
            minima.append(-self.options.temperature * mean)
        return minima


def _times(context: Context) -> list[float]:
    """Return the times t_l = l/L of h_0 … h_L."""
    blocks = len(context.states) - 1
    return [index / blocks for index in range(blocks)] + [1.0]


def _losses_and_gradients(context: Context) -> tuple[Tensor, Tensor]:
    """Return each sample's loss, and its gradient g_L at h_L with the features last."""

    def total(stream: Tensor) -> tuple[Tensor, Tensor]:
        losses = context.loss.value(context.readout(stream), context.target)
        return losses.sum(), losses

    slopes, losses = torch.func.grad(total, has_aux=True)(context.states[-1])
    return losses, by_position(slopes, context.layout)
