"""Equilibrium Propagation (Scellier & Bengio, 2017): credit from states nudged to the target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from depthgauge.nets.batch_view import along_axis
from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions
from depthgauge.rules.positions import sample_axes


class EPOptions(RuleOptions):
    """Options of Equilibrium Propagation; defaults were measured (docs/rules/ep.md)."""

    credit: Literal["error", "displacement"] = Field(
        default="error",
        description="error: −ε/β, the gradient of the energy; displacement: the published form",
    )
    nudge: float = Field(
        default=1.0, gt=0, allow_inf_nan=False, description="β in units of h_L's mean square"
    )
    steps: int = Field(default=4, ge=1, description="sweeps of the nudged phase over all states")
    step_size: float = Field(
        default=0.1, gt=0, allow_inf_nan=False, description="size of the step of each sweep"
    )


class EP(Rule):
    """Equilibrium Propagation: the credit of block l is a_l = −ε_{l+1}/β at the nudged states.

    ε_{l+1} = h_{l+1} − h_l − block_l(h_l) is the difference between a state and its prediction from
    the state below. For the embedding, ε_0 = h_0 − embed(x), and the credit is −ε_0/β.

    The readout's LayerNorm sees h_L/RMS(h_L), so the gradient of CE falls with RMS(h_L). With
    β = nudge · RMS²(h_L) of each sample, over all its axes, a nudge moves a stream of any size by
    the same share.

    At the fixed point of the nudged phase, ε_L = −β ∂CE/∂h_L and ε_l = (1 + J_l)ᵀ ε_{l+1}, with J_l
    the Jacobian of block l. This is the chain rule. So the credit tends to the true gradient as
    β → 0, if the nudged phase reaches its fixed point.

    The readout's LayerNorm sees h_L/RMS(h_L), so the gradient of CE becomes smaller as RMS(h_L)
    grows. Therefore each sample has β = nudge · RMS²(h_L). A nudge then moves a stream of any size
    by the same share of its size.

    With `credit=displacement` the credit is −(h_{l+1} − h_{l+1}^free)/β, from the displacement of a
    state since the free phase. It also contains the displacements of the states below.
    """

    name = "ep"
    summary = "Equilibrium Propagation: prediction errors of states nudged towards the target"
    needs = frozenset({"readout", "blocks"})
    Options = EPOptions
    options: EPOptions

    def credit(self, context: Context) -> Credit:
        """Run the nudged phase; return credit from the differences ε, or from the displacements."""
        states = list(context.states)
        square = states[-1].square().mean(sample_axes(states[-1], context.layout))
        beta = self.options.nudge * (square + torch.finfo(square.dtype).tiny)
        for _ in range(self.options.steps):
            states = self._sweep(context, states, beta)
        if self.options.credit == "displacement":
            differences = [h - free for h, free in zip(states, context.states, strict=True)]
        else:
            predictions, _ = _predict(context, states)
            differences = [h - below for h, below in zip(states, predictions, strict=True)]
        axis = context.layout.sample_axis
        embed, *blocks = [-d / along_axis(beta, d, axis) for d in differences]
        return Credit(blocks=blocks, embed=embed)

    def _sweep(self, context: Context, states: list[Tensor], beta: Tensor) -> list[Tensor]:
        """Move every state by one gradient step, from the last state down.

        The gradient is ∂(E + β·CE)/∂h_l = ε_l − (1 + J_l)ᵀ ε_{l+1}. For the last state h_L it is
        ε_L + β·∂CE/∂h_L. Each step uses the new value of the state above, so the nudge reaches the
        embedding in one sweep.
        """
        predictions, pulls = _predict(context, states)

        def nudge(last: Tensor) -> Tensor:
            return context.loss.value(context.readout(last), context.target).sum()

        slope: Tensor = torch.func.grad(nudge)(states[-1])
        pull = -along_axis(beta, slope, context.layout.sample_axis) * slope
        moved: list[Tensor] = []
        for index in reversed(range(len(states))):
            error = states[index] - predictions[index]
            moved.insert(0, states[index] - self.options.step_size * (error - pull))
            if index:
                pull = pulls[index - 1](moved[0] - predictions[index])[0]
        return moved


def _predict(
    context: Context, states: list[Tensor]
) -> tuple[list[Tensor], list[Callable[[Tensor], tuple[Tensor, ...]]]]:
    """Return each state's prediction from the state below, and a function for each block.

    The function of block l maps v to (1 + J_l)ᵀ v, with J_l the Jacobian of the block.
    """
    predictions, pulls = [context.states[0]], []
    for block, stream in zip(context.blocks, states[:-1], strict=True):
        step = torch.func.vjp(partial(_next, context, block), stream)
        predictions.append(step[0])
        pulls.append(step[1])
    return predictions, pulls


def _next(context: Context, block: Callable[[Tensor], Tensor], stream: Tensor) -> Tensor:
    """Return the prediction of h_{l+1} from h_l.

    It is h_l + block_l(h_l), or block_l(h_l) in a network without residual connections.
    """
    return stream + block(stream) if context.residual else block(stream)
