"""The plain engine: every run is an ordinary network, trained by autograd, one after the other.

The cohort engine uses stacked tensors and its own backward pass; this engine follows the protocol
literally and is several times slower. `--engine plain` uses it, and tests compare the cohort
engine with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from depthgauge.nets.contract import Trace
from depthgauge.nets.cross_entropy import cross_entropy_and_error
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Context, Credit, Need, Rule
from depthgauge.rules.normalisation import compute_credit
from depthgauge.training.batches import Batch
from depthgauge.training.cohort import Cohort
from depthgauge.training.lifted_rule import LiftedRule


def detached_trace(net: ResidualMLP, x: Tensor) -> Trace:
    """Run a forward pass whose gradients do not flow from one part of the network to another."""
    states, branches = [net.embed(x.flatten(1))], []
    for block in net.blocks:
        stream = states[-1].detach()
        branches.append(block(stream))
        states.append(stream + branches[-1] if net.residual_add else branches[-1])
    return Trace(tuple(states), tuple(branches), net.readout(states[-1].detach()))


def collect_needs(rule: Rule, net: ResidualMLP, trace: Trace, labels: Tensor) -> dict[Need, object]:
    """Return the tensors and functions that the rule's `needs` list."""
    needed: dict[Need, object] = {}
    if "error" in rule.needs:
        logits = trace.logits.detach().unsqueeze(0)
        needed["error"] = cross_entropy_and_error(logits, labels.unsqueeze(0))[1][0]
    if "gradient" in rule.needs:
        needed["gradient"] = true_gradients(net, trace.states[0].detach(), labels)
    if "readout" in rule.needs:
        needed["readout"] = net.readout
    if "blocks" in rule.needs:
        needed["blocks"] = list(net.blocks)
    return needed


def true_gradients(net: ResidualMLP, first: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
    """Return the gradients of each sample's own loss.

    The gradients are those at the output of the embedding and of each block.
    """
    states = [first.requires_grad_()]
    for block in net.blocks:
        branch = block(states[-1])
        states.append(states[-1] + branch if net.residual_add else branch)
    loss = cross_entropy(net.readout(states[-1]), labels, reduction="sum")
    return torch.autograd.grad(loss, states)


def local_loss(trace: Trace, credit: Credit) -> Tensor:
    """Return the mean over samples of ⟨output, credit⟩, summed over embedding and blocks."""
    outputs = (trace.states[0], *trace.branches)
    given = (credit.embed, *credit.blocks)
    parts = [(f * a).sum(-1).mean() for f, a in zip(outputs, given, strict=True)]
    return torch.stack(parts).sum()


class PlainCohort(Cohort):
    """A cohort that computes the gradients of each run's local losses by autograd.

    Parameters, feedback and optimizer are those of `Cohort`. Each run's network is a module whose
    parameters are views of the stacked parameters.
    """

    @cached_property
    def _nets(self) -> list[ResidualMLP]:
        return [self._network(run) for run in range(len(self.configs))]

    def _network(self, run: int) -> ResidualMLP:
        net = deepcopy(self.net.template).to(self.device, self.dtype)
        for name, own in self.net.state_of_run(run).items():
            module, _, parameter = name.rpartition(".")
            setattr(net.get_submodule(module), parameter, nn.Parameter(own))
        return net

    def step(self, batch: Batch, progress: float) -> Tensor:
        """Train every run on one batch; return each run's mean cross-entropy before the update."""
        losses = self.net.parameters["out_head.bias"].new_empty(len(self.configs))
        for lifted in self._lifted:
            own = self._compute_gradients(lifted, batch, progress)
            for run, loss in zip(lifted.runs, own, strict=True):
                losses[run] = loss
        self.optimizer.step()
        self.swapped.next_step()
        return losses

    def _compute_gradients(self, lifted: LiftedRule, batch: Batch, progress: float) -> list[Tensor]:
        """Compute the gradients of a rule's runs; return the runs' losses."""
        groups = [int(self._group_of_run[run]) for run in lifted.runs]
        seen = [(batch.inputs[group], batch.labels[group]) for group in groups]
        if self.end_to_end:
            return [
                self._differentiate_loss(run, *of_run)
                for run, of_run in zip(lifted.runs, seen, strict=True)
            ]
        traces = [
            detached_trace(self._nets[run], x)
            for run, (x, _) in zip(lifted.runs, seen, strict=True)
        ]
        noise = lifted.draw_noise([state.detach() for state in traces[0].states])
        losses = []
        for place, (run, trace, (_, labels)) in enumerate(
            zip(lifted.runs, traces, seen, strict=True)
        ):
            context = Context(
                [state.detach() for state in trace.states],
                labels,
                lifted.feedback_of(run),
                progress,
                collect_needs(lifted.rule, self._nets[run], trace, labels),
                noise=None if noise is None else noise[place],
                residual=self.net.residual_add,
            )
            losses.append(self._differentiate_local_losses(run, lifted.rule, trace, context))
        return losses

    def _differentiate_loss(self, run: int, x: Tensor, labels: Tensor) -> Tensor:
        """Compute the gradients of true loss plus penalty; return the true loss alone."""
        trace = self._nets[run].trace(x)
        loss = cross_entropy(trace.logits, labels)
        whole, swapped = loss + self._penalty(trace.branches), self._blocks_swapped(run)
        outputs = [trace.states[block + 1] for block in swapped]
        gradients = torch.autograd.grad(whole, outputs, retain_graph=True) if outputs else ()
        self._differentiate(run, whole)
        for block, gradient in zip(swapped, gradients, strict=True):
            branch = self._nets[run].blocks[block](trace.states[block].detach())
            noise = self.swapped.of_run(run, block, gradient)
            self._differentiate(run, (branch * noise).sum() + self._penalty([branch]), block)
        return loss.detach()

    def _blocks_swapped(self, run: int) -> tuple[int, ...]:
        return self.configs[run].intervention.swapped

    def _differentiate_local_losses(
        self, run: int, rule: Rule, trace: Trace, context: Context
    ) -> Tensor:
        """Compute the gradients of each part's own loss, let the rule learn, return the true loss.

        The readout's own loss is the true loss.
        """
        with torch.no_grad():
            credit = self._with_swapped(run, compute_credit(rule, context))
            learned = dict(rule.learn(context))
        loss = cross_entropy(trace.logits, context.target)
        penalty = self._penalty(trace.branches)
        self._differentiate(run, loss + local_loss(trace, credit) + penalty)
        for name, tensor in learned.items():
            context.feedback[name].copy_(tensor)
        return loss.detach()

    def _with_swapped(self, run: int, credit: Credit) -> Credit:
        """Return the credit; noise replaces it in the blocks that the run's intervention swaps."""
        blocks = list(credit.blocks)
        for block in self._blocks_swapped(run):
            blocks[block] = self.swapped.of_run(run, block, blocks[block])
        return Credit(blocks, credit.embed)

    def _penalty(self, branches: Sequence[Tensor]) -> Tensor | float:
        """Return λ times the sum of squares of all branches, averaged over samples."""
        if not self.recipe.penalty or not branches:
            return 0.0
        sums = [branch.square().sum(-1).mean() for branch in branches]
        return self.recipe.penalty * torch.stack(sums).sum()

    def _differentiate(self, run: int, loss: Tensor, block: int | None = None) -> None:
        """Compute the gradients of a loss, and write them into the optimizer's buffers.

        Only parameters that the run trains have gradients. If a `block` is given, only the
        parameters of the block are included.
        """
        own = dict(self._nets[run].named_parameters())
        prefix = "" if block is None else f"blocks.{block}."
        names = [
            name
            for name, runs in self.net.trained_runs.items()
            if run < runs and name.startswith(prefix)
        ]
        gradients = torch.autograd.grad(loss, [own[name] for name in names])
        for name, gradient in zip(names, gradients, strict=True):
            self.net.of_run(name, self.optimizer.gradients[name], run).copy_(gradient)
