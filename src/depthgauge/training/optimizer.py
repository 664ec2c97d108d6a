"""AdamW over stacked parameters, and the learning-rate schedule."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from depthgauge.config import Recipe
from depthgauge.nets.stacked import StackedResidualMLP

MOMENTS = ("exp_avg", "exp_avg_sq")


def cosine_rate(recipe: Recipe, epoch: int) -> float:
    """Learning rate of epoch 0, 1, …: from the recipe's to zero along half a cosine."""
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * epoch / recipe.epochs))


class CohortAdamW:
    """One fused AdamW for all runs.

    AdamW works element by element, so one optimizer over stacked parameters does what one for
    each run, or each block of each run, would do. Blocks that are frozen in a run are outside
    the optimized slice: they have no gradient buffer and no moments.
    """

    def __init__(self, net: StackedResidualMLP, recipe: Recipe) -> None:
        self.net, self.recipe = net, recipe
        self.gradients = net.new_gradients()
        self._optimized = {
            name: net.parameters[name][: len(gradient)] for name, gradient in self.gradients.items()
        }
        for name, parameter in self._optimized.items():
            parameter.grad = self.gradients[name]
        self._adamw = torch.optim.AdamW(
            self._optimized.values(),
            lr=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
            fused=True,
        )

    def start_epoch(self, epoch: int) -> None:
        """Set the learning rate of this epoch."""
        for group in self._adamw.param_groups:
            group["lr"] = cosine_rate(self.recipe, epoch)

    def step(self) -> None:
        """Apply the gradients that are in the buffers."""
        self._adamw.step()

    def moments_of_run(self, run: int) -> dict[str, Tensor]:
        """The moments of one run's trained parameters, by `moment.parameter`."""
        return {
            f"{moment}.{name}": self.net.of_run(name, self._adamw.state[parameter][moment], run)
            for name, parameter in self._optimized.items()
            if run < self.net.trained_runs[name]
            for moment in MOMENTS
        }

    def restore(self, runs: list[dict[str, Tensor]], steps: int) -> None:
        """Continue from the `moments_of_run` of every run, after `steps` steps."""
        for name, parameter in self._optimized.items():
            state = {"step": torch.tensor(float(steps), device=parameter.device)}
            for moment in MOMENTS:
                state[moment] = torch.zeros_like(parameter)
                for run in range(self.net.trained_runs[name]):
                    target = self.net.of_run(name, state[moment], run)
                    target.copy_(runs[run][f"{moment}.{name}"])
            self._adamw.state[parameter] = state
