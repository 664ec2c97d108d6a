"""A cohort: many runs of one rule (seeds × k × options), trained as one stacked network."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from depthgauge.config import RunConfig
from depthgauge.nets.loss import cross_entropy_and_error
from depthgauge.nets.registry import build_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked import StackedResidualMLP, StackedTrace
from depthgauge.rules.contract import Rule
from depthgauge.tasks.base import Task
from depthgauge.training.batches import Batch
from depthgauge.training.credit import LiftedRule
from depthgauge.training.optimizer import CohortAdamW

DTYPES = {"float32": torch.float32, "float64": torch.float64}


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
        configs: the runs, in falling order of k.
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
            [net for net, _ in started], groups, [c.k for c in configs], self.dtype, device
        )
        self.feedback = [
            {name: self._placed(tensor) for name, tensor in own.items()} for _, own in started
        ]
        self.rules, self.end_to_end = list(rules), rules[0].end_to_end
        self.lift_rules()
        self.optimizer = CohortAdamW(self.net, self.recipe)

    def _placed(self, tensor: Tensor) -> Tensor:
        """On the cohort's device; numbers in its precision, masks and indices as they are."""
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else None)

    def lift_rules(self) -> None:
        """Lift the rules over the runs, once for each set of options, with the present feedback."""
        by_options: dict[str, list[int]] = {}
        for run, rule in enumerate(self.rules):
            by_options.setdefault(rule.options.model_dump_json(), []).append(run)
        self._lifted = []
        for runs in by_options.values():
            feedback = {
                name: torch.stack([self.feedback[run][name] for run in runs])
                for name in self.feedback[runs[0]]
            }
            members = torch.tensor(runs, device=self.device) if len(by_options) > 1 else None
            self._lifted.append(LiftedRule(self.rules[runs[0]], self.net, feedback, members))

    @torch.no_grad()
    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; returns each run's mean cross-entropy before the update."""
        trace = self.net.forward(batch.inputs)
        labels = batch.labels[self._group_of_run]
        loss, error = cross_entropy_and_error(trace.logits, labels)
        if self.end_to_end:
            self._backpropagate(trace, batch, error)
        else:
            self._apply_local_credit(trace, batch, error, labels, progress)
        self.optimizer.step()
        return loss.mean(1)

    def _backpropagate(self, trace: StackedTrace, batch: Batch, error: Tensor) -> None:
        out = self.optimizer.gradients
        gradient = self.net.stream_backward(trace, error / error.shape[1], out)[0]
        self.net.embedding.backward(batch.inputs, gradient, out["embed.weight"], out["embed.bias"])

    def _apply_local_credit(
        self, trace: StackedTrace, batch: Batch, error: Tensor, labels: Tensor, progress: float
    ) -> None:
        """Each part minimises its own loss: mean ⟨f_l, â_l⟩, mean ⟨h_0, â_emb⟩, or the true one."""
        out, samples = self.optimizer.gradients, error.shape[1]
        self.net.readout_backward(trace, error / samples, out)
        blocks, embed = self._credit(trace, error, labels, progress)
        for index, credit in enumerate(blocks):
            self.net.block_local_backward(trace, index, credit / samples, out)
        self.net.embedding.backward(
            batch.inputs, embed / samples, out["embed.weight"], out["embed.bias"]
        )

    def _credit(
        self, trace: StackedTrace, error: Tensor, labels: Tensor, progress: float
    ) -> tuple[Sequence[Tensor], Tensor]:
        parts = [lifted(trace, error, labels, progress) for lifted in self._lifted]
        if len(parts) == 1:
            return parts[0]
        blocks = [torch.empty_like(state) for state in trace.states[1:]]
        embed = torch.empty_like(trace.states[0])
        for lifted, (own_blocks, own_embed) in zip(self._lifted, parts, strict=True):
            for whole, own in zip([*blocks, embed], [*own_blocks, own_embed], strict=True):
                whole[lifted.runs] = own
        return blocks, embed
