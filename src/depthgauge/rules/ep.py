"""Equilibrium Propagation (Scellier & Bengio, 2017): the credit is what a nudge leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import cross_entropy

from depthgauge.rules.auxiliary import rms
from depthgauge.rules.contract import Context, Credit, Rule, RuleOptions


class EPOptions(RuleOptions):
    """What the definition leaves open; the defaults were measured (docs/rules/ep.md)."""

    credit: Literal["error", "displacement"] = Field(
        default="error",
        description="error: −ε/β, the energy's own gradient; displacement: the published form",
    )
    nudge: float = Field(
        default=1.0, gt=0, allow_inf_nan=False, description="β in units of h_L's mean square"
    )
    steps: int = Field(default=4, ge=1, description="sweeps of the nudged phase over all states")
    step_size: float = Field(default=0.1, gt=0, allow_inf_nan=False, description="of each sweep")


class EP(Rule):
    """a_l = −ε_{l+1}/β and a_emb = −ε_0/β at the nudged state.

    ε_0 = h_0 − embed(x) and ε_{l+1} = h_{l+1} − h_l − block_l(h_l) are what the states miss of what
    is foretold from below; E = ½ Σ ‖ε_l‖². The free phase is the forward pass: there E = 0. The
    nudged phase descends all h on E + β·CE. Where it ends, ε_l = (1 + J_l)ᵀ ε_{l+1} and
    ε_L = −β ∂CE/∂h_L: so the credit tends to the true gradient as β → 0 and relaxation completes.
    Through its LayerNorm the readout sees h_L/RMS(h_L), whose gradient falls with RMS(h_L): so
    β = nudge · RMS²(h_L) of each sample moves a stream of any size by the same share of it.

    The displacement −(h_{l+1} − h_{l+1}^free)/β carries the displacements below it along instead.
    """

    name = "ep"
    summary = "Equilibrium Propagation: what states nudged towards the target leave unexplained"
    needs = frozenset({"readout", "blocks"})
    Options = EPOptions
    options: EPOptions

    def credit(self, context: Context) -> Credit:
        """Relax the nudged phase, then read the errors or displacements off."""
        states = list(context.states)
        beta = self.options.nudge * rms(states[-1]).square()
        for _ in range(self.options.steps):
            states = self._sweep(context, states, beta)
        if self.options.credit == "displacement":
            left = [h - free for h, free in zip(states, context.states, strict=True)]
        else:
            foretold, _ = _foretold(context, states)
            left = [h - below for h, below in zip(states, foretold, strict=True)]
        embed, *blocks = [-part / beta for part in left]
        return Credit(blocks=blocks, embed=embed)

    def _sweep(self, context: Context, states: list[Tensor], beta: Tensor) -> list[Tensor]:
        """A gradient step of every state, from the last one down.

        ∂(E + β·CE)/∂h_l = ε_l − (1 + J_l)ᵀ ε_{l+1}, with β·∂CE/∂h_L in place of the last part at
        the end. Each state meets the one above where that has just gone, so that the nudge reaches
        the embedding in one sweep.
        """
        foretold, pulls = _foretold(context, states)

        def nudge(last: Tensor) -> Tensor:
            return cross_entropy(context.readout(last), context.target, reduction="sum")

        pull = -beta * torch.func.grad(nudge)(states[-1])
        moved: list[Tensor] = []
        for index in reversed(range(len(states))):
            error = states[index] - foretold[index]
            moved.insert(0, states[index] - self.options.step_size * (error - pull))
            if index:
                pull = pulls[index - 1](moved[0] - foretold[index])[0]
        return moved


def _foretold(
    context: Context, states: list[Tensor]
) -> tuple[list[Tensor], list[Callable[[Tensor], tuple[Tensor, ...]]]]:
    """Every state as the one below it foretells it, and v ↦ (1 + J_l)ᵀ v of each block."""
    foretold, pulls = [context.states[0]], []
    for block, stream in zip(context.blocks, states[:-1], strict=True):
        step = torch.func.vjp(partial(_next, context, block), stream)
        foretold.append(step[0])
        pulls.append(step[1])
    return foretold, pulls


def _next(context: Context, block: Callable[[Tensor], Tensor], stream: Tensor) -> Tensor:
    """What h_{l+1} would be without any error: h_l + block_l(h_l)."""
    return stream + block(stream) if context.residual else block(stream)
