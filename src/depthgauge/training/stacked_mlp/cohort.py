"""Train a cohort: many runs of one rule as one stacked network.

The runs may differ in seed, in options of the rule, and in k, the number of trained blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from depthgauge.config import RunConfig
from depthgauge.gauges.cohort_readings import norms_of_runs, scores_of_runs
from depthgauge.gauges.epoch_metrics import RunReadings
from depthgauge.losses.of_runs import value_and_error_of_runs
from depthgauge.losses.registry import find_loss
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP, StackedTrace
from depthgauge.nets.stacked.products import products_for
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Split, Task
from depthgauge.training.batches import Batch
from depthgauge.training.initial_run import initialise
from depthgauge.training.precision import DTYPES
from depthgauge.training.stacked_mlp.lifted_rule import LiftedRule, Step
from depthgauge.training.stacked_mlp.optimizer import CohortOptimizer
from depthgauge.training.swapped_credit import SwappedCredit
from depthgauge.training.trainee import RunState, RunTensors


class Cohort:
    """Runs that share task, network shape, recipe and rule class.

    Args:
        configs: the configurations of the runs, largest k first. The interventions of all runs
            freeze the same blocks.
        rules: each run's rule, with its options.
        task: what the runs learn.
        device: the device of all tensors.
    """

    def __init__(
        self,
        configs: Sequence[RunConfig],
        rules: Sequence[Rule],
        task: Task,
        device: torch.device | str = "cpu",
    ) -> None:
        self.configs: Sequence[RunConfig] = list(configs)
        self.recipe = configs[0].recipe
        self.seeds: Sequence[int] = sorted({config.seed for config in configs})
        self.dtype, self.device = DTYPES[self.recipe.dtype], device
        self.loss = find_loss(self.recipe.loss)
        shape = (len(task.train), task.num_classes)
        self.loss.check(shape, task.train.y)
        drawn = [initialise(c, task, rule) for c, rule in zip(configs, rules, strict=True)]
        groups = [self.seeds.index(config.seed) for config in configs]
        self._group_of_run = torch.tensor(groups, device=device)
        self.net = StackedResidualMLP(
            [cast(ResidualMLP, net) for net, _ in drawn],
            groups,
            [c.k for c in configs],
            self.dtype,
            device,
            frozen=configs[0].intervention.frozen,
            products=products_for(self.recipe.dtype, device),
        )
        self.end_to_end = rules[0].end_to_end
        self.swapped = SwappedCredit(configs)
        self._lifted = self._lift(rules, [feedback for _, feedback in drawn])
        self.optimizer = CohortOptimizer(self.net, self.recipe)

    def _lift(
        self, rules: Sequence[Rule], feedback: Sequence[dict[str, Tensor]]
    ) -> list[LiftedRule]:
        """Make one `LiftedRule` for each group of runs whose rules have the same options."""
        by_options: dict[str, list[int]] = {}
        for run, rule in enumerate(rules):
            by_options.setdefault(rule.options.model_dump_json(), []).append(run)
        return [
            LiftedRule(
                rules[runs[0]],
                self.net,
                [{name: self._convert(t) for name, t in feedback[run].items()} for run in runs],
                runs,
                [self.configs[run].seed for run in runs],
                loss=self.loss,
            )
            for runs in by_options.values()
        ]

    def _convert(self, tensor: Tensor) -> Tensor:
        """Copy a tensor to the cohort's device; convert floating-point numbers to its precision."""
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else None)

    @property
    def feedback(self) -> list[dict[str, Tensor]]:
        """The present feedback of every run, as views of the stacked tensors."""
        by_run = {run: lifted.feedback_of(run) for lifted in self._lifted for run in lifted.runs}
        return [by_run[run] for run in range(len(self.configs))]

    @property
    def noise(self) -> list[Tensor | None]:
        """The state of each run's noise generator; None if this epoch has drawn no noise."""
        by_run = {run: lifted.noise_of(run) for lifted in self._lifted for run in lifted.runs}
        return [by_run[run] for run in range(len(self.configs))]

    def continue_noise(self, states: Sequence[Tensor | None]) -> None:
        """Continue every run's noise from these states, which `noise` returned."""
        for lifted in self._lifted:
            for run in lifted.runs:
                lifted.continue_noise(run, states[run])

    def tensors(self, *, with_moments: bool = True) -> list[RunTensors]:
        """Return the tensors of every run as views; moments only if they are asked for."""
        return [
            RunTensors(
                self.net.state_of_run(run),
                feedback,
                self.optimizer.moments_of_run(run) if with_moments else {},
                noise,
            )
            for run, (feedback, noise) in enumerate(zip(self.feedback, self.noise, strict=True))
        ]

    def have_finite_weights(self) -> list[bool]:
        """Return for each run whether all of its weights are finite."""
        states = [self.net.state_of_run(run) for run in range(len(self.configs))]
        return [all(bool(p.isfinite().all()) for p in state.values()) for state in states]

    @torch.no_grad()
    def restore(self, states: Sequence[RunState], steps: int) -> None:
        """Copy saved states into the runs, which were trained for so many steps."""
        for own, state in zip(self.tensors(with_moments=False), states, strict=True):
            for name, parameter in own.parameters.items():
                parameter.copy_(state.parameters[name])
            for name, tensor in own.feedback.items():
                tensor.copy_(state.feedback[name])
        if states[0].epoch < self.recipe.epochs:
            self.optimizer.restore_runs([state.moments for state in states], steps)

    def sample_scores(self, split: Split, chunk: int) -> Tensor:
        """Return each run's score on each sample, as (runs, samples)."""
        return scores_of_runs(self.net, split, self.loss, chunk)

    def norms(self, split: Split, batches: int, batch_size: int) -> list[RunReadings]:
        """Return each run's norms of the stream and its gradients on the first batches."""
        return norms_of_runs(self.net, split, self.loss, batches=batches, batch_size=batch_size)

    def start_epoch(self, epoch: int, step: int = 0) -> None:
        """Set the learning rate and the random streams of this epoch.

        `step` is the number of steps that are already done, if the epoch is continued.
        """
        self.optimizer.start_epoch(epoch)
        self.swapped.start(epoch, step)
        for lifted in self._lifted:
            lifted.start_epoch(epoch)

    @torch.no_grad()
    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; return each run's mean loss before the update."""
        trace = self.net.forward(batch.inputs)
        labels = batch.labels.index_select(0, self._group_of_run)
        loss, error = value_and_error_of_runs(self.loss, trace.logits, labels)
        if self.end_to_end:
            self._backpropagate(trace, batch, error)
        else:
            self._apply_local_credit(Step(trace, error, labels, progress), batch)
        self.optimizer.step()
        self.swapped.next_step()
        return loss.mean(1)

    def _backpropagate(self, trace: StackedTrace, batch: Batch, error: Tensor) -> None:
        out, samples = self.optimizer.gradients, error.shape[1]
        d_branches = None
        if self.recipe.penalty:
            d_branches = [self._penalty_gradient(f) / samples for f in trace.branches]
        gradients = self.net.stream_backward(trace, error / samples, out, d_branches)
        self.net.embedding.backward(
            batch.inputs, gradients[0], out["embed.weight"], out["embed.bias"]
        )
        for block, runs in self.swapped.runs_of.items():
            upstream = self.swapped.of_block(block, gradients[block + 1])
            if d_branches is not None:
                upstream = upstream + d_branches[block]
            self._replace_gradients(trace, block, runs, upstream)

    def _replace_gradients(
        self, trace: StackedTrace, block: int, runs: Sequence[int], upstream: Tensor
    ) -> None:
        """Replace a block's gradients in some runs.

        The new gradients are those of the sum over samples of ⟨output of the block, upstream⟩.
        """
        out = self.optimizer.gradients
        local = {name: out[name].clone() for name in out if name.startswith(f"blocks.{block}.")}
        self.net.block_local_backward(trace, block, upstream, local)
        for name, gradient in local.items():
            out[name][runs] = gradient[runs]

    def _penalty_gradient(self, branch: Tensor) -> Tensor:
        """Return for each sample the gradient of the penalty, λ·Σ f², where f is the `branch`."""
        return 2 * self.recipe.penalty * branch

    def _apply_local_credit(self, step: Step, batch: Batch) -> None:
        """Compute the gradients of each part's own loss.

        The loss of a block, or of the embedding, is the mean over samples of ⟨output, credit⟩. The
        loss of the readout is the true loss. The recipe may add a penalty to the loss of each
        block.
        """
        out, share = self.optimizer.gradients, 1 / step.error.shape[1]
        self.net.readout_local_backward(step.trace, step.error * share, out)
        blocks, embed = self._credit(step)
        for index, credit in enumerate(blocks):
            upstream = self.swapped.of_block(index, credit)
            if self.recipe.penalty:
                upstream = upstream + self._penalty_gradient(step.trace.branches[index])
            self.net.block_local_backward(step.trace, index, upstream, out, share)
        self.net.embedding.backward(
            batch.inputs, embed, out["embed.weight"], out["embed.bias"], share
        )

    def _credit(self, step: Step) -> tuple[Sequence[Tensor], Tensor]:
        """Return the credit of each block and of the embedding, for all runs."""
        parts = [lifted(step) for lifted in self._lifted]
        if len(parts) == 1:
            return parts[0]
        blocks = [torch.empty_like(state) for state in step.trace.states[1:]]
        embed = torch.empty_like(step.trace.states[0])
        for lifted, (own_blocks, own_embed) in zip(self._lifted, parts, strict=True):
            for whole, own in zip([*blocks, embed], [*own_blocks, own_embed], strict=True):
                whole.index_copy_(0, lifted.members, own)
        return blocks, embed
