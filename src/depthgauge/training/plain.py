"""The reference path: every run is an ordinary network, trained by autograd, one after the other.

What the cohort engine does with stacked tensors and a backward pass written by hand is done here
as the protocol says it. It is several times slower; `--engine plain` trains by it, and tests hold
the engine to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from depthgauge.config import RunConfig
from depthgauge.nets.contract import Trace
from depthgauge.nets.loss import cross_entropy_and_error
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.applied import applied_credit
from depthgauge.rules.contract import Context, Credit, Need, Rule
from depthgauge.tasks.base import Task
from depthgauge.training.batches import Batch
from depthgauge.training.cohort import Cohort
from depthgauge.training.credit import LiftedRule


class PlainCohort(Cohort):
    """A cohort whose gradients are those of each run's own local losses, by autograd.

    Parameters, feedback and optimizer are the cohort's; each run's network is a module on its part
    of them.
    """

    def __init__(
        self,
        configs: Sequence[RunConfig],
        rules: Sequence[Rule],
        task: Task,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(configs, rules, task, device)
        self._nets = [self._network(run) for run in range(len(configs))]

    def _network(self, run: int) -> ResidualMLP:
        net = deepcopy(self.net.template).to(self.device, self.dtype)
        for name, own in self.net.state_of_run(run).items():
            module = net.get_submodule(name.rpartition(".")[0])
            setattr(module, name.rpartition(".")[2], nn.Parameter(own))
        return net

    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; returns each run's mean cross-entropy before the update."""
        losses = self.optimizer.gradients["out_head.bias"].new_empty(len(self.configs))
        for lifted in self._lifted:
            noise: Tensor | None = None
            for place, run in enumerate(lifted.runs):
                group = int(self._group_of_run[run])
                x, labels = batch.inputs[group], batch.labels[group]
                if self.end_to_end:
                    losses[run] = self._follow_gradient(run, x, labels)
                    continue
                trace = self._detached_trace(run, x)
                if place == 0:
                    noise = lifted.draw_noise([state.detach() for state in trace.states])
                own = None if noise is None else noise[place]
                context = self._context(lifted, run, trace, labels, progress=progress, noise=own)
                losses[run] = self._follow_credit(lifted, run, trace, labels, context)
        self.optimizer.step()
        return losses

    def _follow_gradient(self, run: int, x: Tensor, labels: Tensor) -> Tensor:
        """The true loss of the whole network, with its penalty."""
        trace = self._nets[run].trace(x)
        loss = cross_entropy(trace.logits, labels)
        self._differentiate(run, loss + self._penalty(trace.branches))
        return loss.detach()

    def _detached_trace(self, run: int, x: Tensor) -> Trace:
        """A forward pass in which nothing comes back from one part to another."""
        net = self._nets[run]
        states, branches = [net.embed(x)], []
        for block in net.blocks:
            stream = states[-1].detach()
            branches.append(block(stream))
            states.append(stream + branches[-1] if net.residual_add else branches[-1])
        return Trace(tuple(states), tuple(branches), net.readout(states[-1].detach()))

    def _context(
        self,
        lifted: LiftedRule,
        run: int,
        trace: Trace,
        labels: Tensor,
        *,
        progress: float,
        noise: Tensor | None,
    ) -> Context:
        net, states = self._nets[run], [state.detach() for state in trace.states]
        offers: dict[Need, object] = {}
        if "error" in lifted.rule.needs:
            logits = trace.logits.detach().unsqueeze(0)
            offers["error"] = cross_entropy_and_error(logits, labels.unsqueeze(0))[1][0]
        if "gradient" in lifted.rule.needs:
            offers["gradient"] = _true_gradients(net, states[0], labels)
        if "readout" in lifted.rule.needs:
            offers["readout"] = net.readout
        if "blocks" in lifted.rule.needs:
            offers["blocks"] = list(net.blocks)
        feedback = lifted.feedback_of(run)
        return Context(
            states, labels, feedback, progress, offers, noise=noise, residual=net.residual_add
        )

    def _follow_credit(
        self, lifted: LiftedRule, run: int, trace: Trace, labels: Tensor, context: Context
    ) -> Tensor:
        """Each part's own loss: mean ⟨f_l, â_l⟩, mean ⟨h_0, â_emb⟩, and the readout's true one."""
        with torch.no_grad():
            credit = applied_credit(lifted.rule, context)
            learned = dict(lifted.rule.learn(context))
        loss = cross_entropy(trace.logits, labels)
        local = _inner_products(trace, credit) + self._penalty(trace.branches)
        self._differentiate(run, loss + local)
        _take(context.feedback, learned)
        return loss.detach()

    def _penalty(self, branches: Sequence[Tensor]) -> Tensor | float:
        """λ·mean over samples of Σ f², of all blocks."""
        if not self.recipe.penalty:
            return 0.0
        sums = [branch.square().sum(-1).mean() for branch in branches]
        return self.recipe.penalty * torch.stack(sums).sum()

    def _differentiate(self, run: int, loss: Tensor) -> None:
        """Put the gradients of what this run trains where the optimizer looks for them."""
        own = dict(self._nets[run].named_parameters())
        names = [name for name, runs in self.net.trained_runs.items() if run < runs]
        found = torch.autograd.grad(loss, [own[name] for name in names])
        for name, gradient in zip(names, found, strict=True):
            self.net.of_run(name, self.optimizer.gradients[name], run).copy_(gradient)


def _inner_products(trace: Trace, credit: Credit) -> Tensor:
    """Σ over parts of the mean over samples of ⟨output, credit⟩."""
    parts = zip((trace.states[0], *trace.branches), (credit.embed, *credit.blocks), strict=True)
    return torch.stack([(output * given).sum(-1).mean() for output, given in parts]).sum()


def _true_gradients(net: ResidualMLP, first: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
    """g_0 … g_L of each sample's own loss."""
    states = [first.requires_grad_()]
    for block in net.blocks:
        branch = block(states[-1])
        states.append(states[-1] + branch if net.residual_add else branch)
    loss = cross_entropy(net.readout(states[-1]), labels, reduction="sum")
    return torch.autograd.grad(loss, states)


def _take(feedback: Mapping[str, Tensor], learned: Mapping[str, Tensor]) -> None:
    for name, tensor in learned.items():
        feedback[name].copy_(tensor)
