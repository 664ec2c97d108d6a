"""AdamW on the parameters of one network."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from depthgauge.config import Recipe
from depthgauge.training.optimizer import BETAS, EPSILON, MOMENTS, cosine_rate

STEPS = "steps"


class RunAdamW:
    """AdamW for the parameters of a network that are trained.

    A parameter without a gradient is left alone, as torch's optimizers do: the blocks of a network
    that skips blocks at random have none in some steps. So every parameter counts its own steps.
    """

    def __init__(self, net: nn.Module, recipe: Recipe) -> None:
        self.recipe, self._rate, self._count = recipe, recipe.learning_rate, 0
        self.trained: dict[str, nn.Parameter] = {
            name: parameter for name, parameter in net.named_parameters() if parameter.requires_grad
        }
        self._moments = {
            moment: {name: torch.zeros_like(own) for name, own in self.trained.items()}
            for moment in MOMENTS
        }
        self._steps = {
            name: torch.zeros((), device=own.device) for name, own in self.trained.items()
        }

    def start_epoch(self, epoch: int) -> None:
        """Set the learning rate of this epoch."""
        self._rate = cosine_rate(self.recipe, epoch)

    def zero_grad(self) -> None:
        """Drop the gradients of the last step."""
        for parameter in self.trained.values():
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        self._count += 1
        names = [name for name, own in self.trained.items() if own.grad is not None]
        if not names:
            return
        first, second = self._moments.values()
        adamw(
            [self.trained[name] for name in names],
            [gradient for name in names if (gradient := self.trained[name].grad) is not None],
            [first[name] for name in names],
            [second[name] for name in names],
            [],
            [self._steps[name] for name in names],
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self._rate,
            weight_decay=self.recipe.weight_decay,
            eps=EPSILON,
            maximize=False,
        )

    def state(self) -> dict[str, Tensor]:
        """Return the moments under names "moment.parameter".

        The number of steps of a parameter is in the state only if the parameter has missed some.
        """
        moments = {
            f"{moment}.{name}": own[name]
            for name in self.trained
            for moment, own in self._moments.items()
        }
        fewer = {name: own for name, own in self._steps.items() if int(own) != self._count}
        return moments | {f"{STEPS}.{name}": own for name, own in fewer.items()}

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor], steps: int) -> None:
        """Set the moments as `state` returned them after `steps` steps of the run."""
        self._count = steps
        for name in self.trained:
            for moment, own in self._moments.items():
                own[name].copy_(state[f"{moment}.{name}"])
            self._steps[name].fill_(float(state.get(f"{STEPS}.{name}", steps)))
