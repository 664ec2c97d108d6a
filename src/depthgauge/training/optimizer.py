"""AdamW on stacked parameters, and its learning-rate schedule."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.optim.adamw import adamw

from depthgauge.config import Recipe
from depthgauge.nets.stacked.network import StackedResidualMLP

MOMENTS = ("exp_avg", "exp_avg_sq")
BETAS = (0.9, 0.999)
EPSILON = 1e-8


def cosine_rate(recipe: Recipe, epoch: int) -> float:
    """Return the learning rate of an epoch: half a cosine from the recipe's rate to zero."""
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * epoch / recipe.epochs))


class CohortAdamW:
    """One fused AdamW for all runs.

    AdamW updates each element on its own, so one optimizer on stacked parameters does the same as
    one optimizer for each run. Only the trained slice of each stacked parameter is optimized, so
    blocks that are frozen in a run have no gradient buffer and no moments.

    The update calls the function behind `torch.optim.AdamW`. The class itself is not used: it
    imports torch's compiler, which takes as long as importing torch.
    """

    def __init__(self, net: StackedResidualMLP, recipe: Recipe) -> None:
        self.net, self.recipe = net, recipe
        self.gradients = net.new_gradients()
        self._rate = recipe.learning_rate
        self._optimized = {
            name: net.parameters[name][: len(gradient)] for name, gradient in self.gradients.items()
        }
        self._moments = {
            moment: {name: torch.zeros_like(own) for name, own in self._optimized.items()}
            for moment in MOMENTS
        }
        self._steps = [torch.zeros((), device=own.device) for own in self._optimized.values()]

    def start_epoch(self, epoch: int) -> None:
        """Set the learning rate of this epoch."""
        self._rate = cosine_rate(self.recipe, epoch)

    def step(self) -> None:
        """Update the parameters by the gradients in the buffers."""
        first, second = self._moments.values()
        adamw(
            list(self._optimized.values()),
            list(self.gradients.values()),
            list(first.values()),
            list(second.values()),
            [],
            self._steps,
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self._rate,
            weight_decay=self.recipe.weight_decay,
            eps=EPSILON,
            maximize=False,
        )

    def moments_of_run(self, run: int) -> dict[str, Tensor]:
        """Return the moments of one run's trained parameters, under names "moment.parameter"."""
        return {
            f"{moment}.{name}": self.net.of_run(name, self._moments[moment][name], run)
            for name in self._optimized
            if run < self.net.trained_runs[name]
            for moment in MOMENTS
        }

    def restore(self, runs: list[dict[str, Tensor]], steps: int) -> None:
        """Set every run's moments, as `moments_of_run` returned them after `steps` steps."""
        for run, kept in enumerate(runs):
            for name, moment in self.moments_of_run(run).items():
                moment.copy_(kept[name])
        for own in self._steps:
            own.fill_(steps)
