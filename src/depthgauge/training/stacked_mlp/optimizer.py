"""The optimizer of a cohort: one for the stacked parameters of all runs."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.recipe import Recipe
from depthgauge.training.optimizer import Optimizer, Part

PARTS: dict[str, Part] = {"embed": "embedding", "blocks": "blocks"}
"""The part of a parameter by the start of its name; the rest is the readout."""


class CohortOptimizer(Optimizer):
    """One fused optimizer for all runs.

    Optimizers update each element on its own, so one optimizer on stacked parameters does the same
    as one optimizer for each run. Blocks that are frozen in a run are not in the optimized slice:
    they have no gradient buffer and no moments.
    """

    def __init__(self, net: StackedResidualMLP, recipe: Recipe) -> None:
        self.net, self.gradients = net, net.new_gradients()
        optimized = {
            name: net.parameters[name][: len(gradient)] for name, gradient in self.gradients.items()
        }
        parts = {name: PARTS.get(name.partition(".")[0], "readout") for name in optimized}
        super().__init__(optimized, parts, recipe)

    def step(self) -> None:
        """Update the parameters by the gradients in the buffers."""
        self.update(self.gradients)

    def moments_of_run(self, run: int) -> dict[str, Tensor]:
        """Return the moments of one run's trained parameters, under names "moment.parameter"."""
        return {
            f"{moment}.{name}": self.net.of_run(name, own[name], run)
            for name in self.parameters
            if run < self.net.trained_runs[name]
            for moment, own in self.moments.items()
        }

    def restore_runs(self, runs: Sequence[dict[str, Tensor]], steps: int) -> None:
        """Set every run's moments, as `moments_of_run` returned them after `steps` steps."""
        for run, kept in enumerate(runs):
            for name, moment in self.moments_of_run(run).items():
                moment.copy_(kept[name])
        self.set_steps(steps)
