"""A cohort: many runs of one rule (seeds × k × options), trained as one stacked network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.config import RunConfig
from depthgauge.nets.cross_entropy import cross_entropy_and_error
from depthgauge.nets.registry import build_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP, StackedTrace
from depthgauge.nets.stacked.products import products_for
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Task
from depthgauge.training.batches import Batch
from depthgauge.training.lifted_rule import LiftedRule, Step
from depthgauge.training.optimizer import CohortAdamW
from depthgauge.training.swapped_credit import SwappedCredit

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bf16": torch.float32}
"""What parameters are kept in; bf16 is how the matrices are multiplied."""


def initialise(config: RunConfig, task: Task, rule: Rule) -> tuple[ResidualMLP, dict[str, Tensor]]:
    """A run's network and feedback, drawn in this order from the stream of its seed.

    The global random state is what the published initialisation uses; it is put back after.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        net = build_net(config.net, task)
        return net, rule.feedback(net, torch.default_generator)


class Cohort:
    """Runs that share task, network shape, recipe and rule class.

    Args:
        configs: the runs, in falling order of k; all keep the same blocks frozen.
        rules: each run's rule, with its options.
        task: what they learn.
        device: where they live.
    """

    def __init__(
        self,
        configs: Sequence[RunConfig],
        rules: Sequence[Rule],
        task: Task,
        device: torch.device | str = "cpu",
    ) -> None:
        self.configs, self.recipe = list(configs), configs[0].recipe
        self.seeds = sorted({config.seed for config in configs})
        self.dtype, self.device = DTYPES[self.recipe.dtype], device
        started = [initialise(c, task, rule) for c, rule in zip(configs, rules, strict=True)]
        groups = [self.seeds.index(config.seed) for config in configs]
        self._group_of_run = torch.tensor(groups, device=device)
        self.net = StackedResidualMLP(
            [net for net, _ in started],
            groups,
            [c.k for c in configs],
            self.dtype,
            device,
            frozen=configs[0].intervention.frozen,
            products=products_for(self.recipe.dtype, device),
        )
        self.end_to_end = rules[0].end_to_end
        self.swapped = SwappedCredit(configs)
        self._lifted = self._lift(rules, [feedback for _, feedback in started])
        self.optimizer = CohortAdamW(self.net, self.recipe)

    def _lift(
        self, rules: Sequence[Rule], feedback: Sequence[dict[str, Tensor]]
    ) -> list[LiftedRule]:
        """The rules lifted over the runs, once for each set of options."""
        by_options: dict[str, list[int]] = {}
        for run, rule in enumerate(rules):
            by_options.setdefault(rule.options.model_dump_json(), []).append(run)
        return [
            LiftedRule(
                rules[runs[0]],
                self.net,
                [{name: self._placed(t) for name, t in feedback[run].items()} for run in runs],
                runs,
                [self.configs[run].seed for run in runs],
            )
            for runs in by_options.values()
        ]

    def _placed(self, tensor: Tensor) -> Tensor:
        """On the cohort's device; numbers in its precision, masks and indices as they are."""
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else None)

    @property
    def feedback(self) -> list[dict[str, Tensor]]:
        """The present feedback of every run, as views."""
        by_run = {run: lifted.feedback_of(run) for lifted in self._lifted for run in lifted.runs}
        return [by_run[run] for run in range(len(self.configs))]

    @property
    def noise(self) -> list[Tensor | None]:
        """How far every run's noise has been drawn in this epoch; None where there is none."""
        by_run = {run: lifted.noise_of(run) for lifted in self._lifted for run in lifted.runs}
        return [by_run[run] for run in range(len(self.configs))]

    def continue_noise(self, states: Sequence[Tensor | None]) -> None:
        """Draw every run's noise on from where it was."""
        for lifted in self._lifted:
            for run in lifted.runs:
                lifted.continue_noise(run, states[run])

    def start_epoch(self, epoch: int, step: int = 0) -> None:
        """Set what changes from epoch to epoch: the learning rate, and the streams of noise.

        In an epoch that goes on, so many steps are done.
        """
        self.optimizer.start_epoch(epoch)
        self.swapped.start(epoch, step)
        for lifted in self._lifted:
            lifted.start_epoch(epoch)

    @torch.no_grad()
    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; returns each run's mean cross-entropy before the update."""
        trace = self.net.forward(batch.inputs)
        labels = batch.labels.index_select(0, self._group_of_run)
        loss, error = cross_entropy_and_error(trace.logits, labels)
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
        along = self.net.stream_backward(trace, error / samples, out, d_branches)
        self.net.embedding.backward(batch.inputs, along[0], out["embed.weight"], out["embed.bias"])
        for block, runs in self.swapped.runs_of.items():
            upstream = self.swapped.of_block(block, along[block + 1])
            if d_branches is not None:
                upstream = upstream + d_branches[block]
            self._replace_gradients(trace, block, runs, upstream)

    def _replace_gradients(
        self, trace: StackedTrace, block: int, runs: Sequence[int], upstream: Tensor
    ) -> None:
        """Give a block of some runs the gradients of Σ ⟨f_l, upstream⟩ instead of the true ones."""
        out = self.optimizer.gradients
        local = {name: out[name].clone() for name in out if name.startswith(f"blocks.{block}.")}
        self.net.block_local_backward(trace, block, upstream, local)
        for name, gradient in local.items():
            out[name][runs] = gradient[runs]

    def _penalty_gradient(self, branch: Tensor) -> Tensor:
        """∂(λ·Σ f²)/∂f of each sample."""
        return 2 * self.recipe.penalty * branch

    def _apply_local_credit(self, step: Step, batch: Batch) -> None:
        """Each part minimises its own loss: mean ⟨f_l, â_l⟩, mean ⟨h_0, â_emb⟩, or the true one."""
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
        parts = [lifted(step) for lifted in self._lifted]
        if len(parts) == 1:
            return parts[0]
        blocks = [torch.empty_like(state) for state in step.trace.states[1:]]
        embed = torch.empty_like(step.trace.states[0])
        for lifted, (own_blocks, own_embed) in zip(self._lifted, parts, strict=True):
            for whole, own in zip([*blocks, embed], [*own_blocks, own_embed], strict=True):
                whole.index_copy_(0, lifted.members, own)
        return blocks, embed
