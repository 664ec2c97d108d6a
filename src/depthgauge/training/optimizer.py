"""Optimizers on tensors: AdamW, Adam and SGD, with a learning rate for each part of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd

from depthgauge.recipe import Recipe
from depthgauge.training.schedule import learning_rate

Part = Literal["embedding", "blocks", "readout"]
MOMENTS: Mapping[str, tuple[str, ...]] = {
    "adamw": ("exp_avg", "exp_avg_sq"),
    "adam": ("exp_avg", "exp_avg_sq"),
    "sgd": ("momentum_buffer",),
}
"""The tensors that each optimizer keeps for each parameter, as torch names them."""

EPSILON = 1e-8
STEPS = "steps"


class Optimizer:
    """The optimizer of a recipe, on the parameters that are trained.

    A parameter without a gradient is left alone, as torch's optimizers do: the blocks of a network
    that skips blocks at random have none in some steps. So every parameter counts its own steps.

    The update calls the functions behind `torch.optim`. The classes are not used: they import
    torch's compiler, which takes as long as importing torch.

    Args:
        parameters: the tensors to train, by name.
        parts: the part of the network that each parameter belongs to, by the same names.
        recipe: the recipe, with the optimizer, its options and the schedule.
    """

    def __init__(
        self, parameters: Mapping[str, Tensor], parts: Mapping[str, Part], recipe: Recipe
    ) -> None:
        self.recipe, self.parameters = recipe, dict(parameters)
        self.moments: dict[str, dict[str, Tensor]] = {
            moment: {name: torch.zeros_like(own) for name, own in self.parameters.items()}
            for moment in moments_of(recipe)
        }
        self._steps = {
            name: torch.zeros((), device=own.device) for name, own in self.parameters.items()
        }
        self._count, self._rate = 0, recipe.learning_rate
        self._groups: dict[float, list[str]] = {}
        for name in self.parameters:
            self._groups.setdefault(rate_of_part(recipe, parts[name]), []).append(name)

    def start_epoch(self, epoch: int) -> None:
        """Set the learning rate of this epoch."""
        self._rate = learning_rate(self.recipe, epoch)

    @torch.no_grad()
    def update(self, gradients: Mapping[str, Tensor]) -> None:
        """Update every parameter that has a gradient."""
        self._count += 1
        for factor, names in self._groups.items():
            present = [name for name in names if name in gradients]
            if present:
                self._update(present, [gradients[name] for name in present], factor * self._rate)

    def _update(self, names: Sequence[str], gradients: list[Tensor], rate: float) -> None:
        own = [self.parameters[name] for name in names]
        if self.recipe.optimizer == "sgd":
            self._update_by_sgd(names, own, gradients, rate)
            return
        first, second = self.moments.values()
        steps = [self._steps[name] for name in names]
        (adamw if self.recipe.optimizer == "adamw" else adam)(
            own,
            gradients,
            [first[name] for name in names],
            [second[name] for name in names],
            [],
            steps,
            fused=True,
            amsgrad=False,
            beta1=self.recipe.beta1,
            beta2=self.recipe.beta2,
            lr=rate,
            weight_decay=self.recipe.weight_decay,
            eps=EPSILON,
            maximize=False,
        )

    def _update_by_sgd(
        self, names: Sequence[str], own: list[Tensor], gradients: list[Tensor], rate: float
    ) -> None:
        """Update by SGD; torch's first step sets the momentum to the gradient, undamped.

        Without dampening, that is what momentum from zero does.
        """
        buffers: list[Tensor | None] = [
            self.moments["momentum_buffer"][name] if self.recipe.momentum else None
            for name in names
        ]
        sgd(
            own,
            gradients,
            buffers,
            fused=True,
            weight_decay=self.recipe.weight_decay,
            momentum=self.recipe.momentum,
            lr=rate,
            dampening=0.0,
            nesterov=self.recipe.nesterov,
            maximize=False,
        )
        for name in names:
            self._steps[name] += 1

    def state(self) -> dict[str, Tensor]:
        """Return the moments under names "moment.parameter".

        The number of steps of a parameter is in the state only if the parameter has missed some.
        """
        moments = {
            f"{moment}.{name}": own[name]
            for name in self.parameters
            for moment, own in self.moments.items()
        }
        fewer = {name: own for name, own in self._steps.items() if int(own) != self._count}
        return moments | {f"{STEPS}.{name}": own for name, own in fewer.items()}

    def set_steps(self, steps: int, own: Mapping[str, Tensor] | None = None) -> None:
        """Set the number of steps of every parameter; `own` has those that differ, by name."""
        self._count = steps
        for name, count in self._steps.items():
            count.fill_(float((own or {}).get(f"{STEPS}.{name}", steps)))

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor], steps: int) -> None:
        """Set the moments as `state` returned them after `steps` steps of the run."""
        for moment, own in self.moments.items():
            for name, tensor in own.items():
                tensor.copy_(state[f"{moment}.{name}"])
        self.set_steps(steps, state)


def moments_of(recipe: Recipe) -> tuple[str, ...]:
    """Return the names of the tensors that the recipe's optimizer keeps for each parameter."""
    needs_none = recipe.optimizer == "sgd" and not recipe.momentum
    return () if needs_none else MOMENTS[recipe.optimizer]


def rate_of_part(recipe: Recipe, part: Part) -> float:
    """Return the factor on the learning rate of a part."""
    factor: float = getattr(recipe, f"{part}_rate")
    return factor
