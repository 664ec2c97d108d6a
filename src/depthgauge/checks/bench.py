"""A rule on three tiny networks, each with its own seed and batches: what all checks work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from depthgauge.checks.observed_batch import Offers, Shown
from depthgauge.config import NetConfig
from depthgauge.nets.cross_entropy import cross_entropy_and_error
from depthgauge.nets.registry import initial_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.rules.choice import RuleChoice
from depthgauge.rules.contract import Need, Rule
from depthgauge.tasks.base import Split, Task
from depthgauge.training.lifted_rule import LiftedRule, Step

INPUTS, CLASSES, SAMPLES, BATCHES = 6, 4, 5, 3
SEEDS = (1, 2, 3)
RUNS = tuple(range(len(SEEDS)))
NET = NetConfig(width=8, blocks=3, w2_std=0.3)
PROGRESS = (0.0, 0.5, 1.0)
"""The beginning of training, its middle, and where a trained network is read."""

Feedback = dict[str, Tensor]


def tiny_task() -> Task:
    """Random samples, as many as the runs see in all their batches; every class is there."""
    samples = SAMPLES * BATCHES * len(SEEDS)
    x = torch.randn(samples, INPUTS, generator=torch.Generator().manual_seed(0))
    split = Split(x, torch.arange(samples) % CLASSES)
    return Task("tiny", split, split, CLASSES)


@dataclass(frozen=True)
class Bench:
    """The rule that is checked, and everything that it is shown, in one precision."""

    choice: RuleChoice
    dtype: torch.dtype = torch.float64

    def at(self, dtype: torch.dtype) -> Bench:
        """The same in float32 or float64."""
        return self if dtype == self.dtype else self._otherwise

    @cached_property
    def _otherwise(self) -> Bench:
        other = torch.float32 if self.dtype == torch.float64 else torch.float64
        return Bench(self.choice, other)

    def fresh(self) -> Rule:
        """The rule as nobody has used it yet."""
        return self.choice.build()

    @cached_property
    def task(self) -> Task:
        """What the networks are shown."""
        return tiny_task()

    @cached_property
    def nets(self) -> list[ResidualMLP]:
        """One untrained network for each seed."""
        return [initial_net(self.choice.net(NET), self.task, seed) for seed in SEEDS]

    @cached_property
    def stack(self) -> StackedResidualMLP:
        """The networks as training holds them."""
        blocks = [net.num_blocks for net in self.nets]
        return StackedResidualMLP(self.nets, RUNS, blocks, self.dtype)

    def feedback(self, rule: Rule, run: int) -> Feedback:
        """What the rule keeps for a run, in the bench's precision."""
        drawn = rule.feedback(self.nets[run], torch.Generator().manual_seed(SEEDS[run]))
        return {
            name: tensor.to(self.dtype) if tensor.is_floating_point() else tensor
            for name, tensor in drawn.items()
        }

    def all_feedback(self) -> list[Feedback]:
        """Every run's, each drawn by a rule of its own."""
        return [self.feedback(self.fresh(), run) for run in RUNS]

    def step(self, batch: int = 0, progress: float = 0.5) -> Step:
        """A batch of every run, as training shows it."""
        rows = (torch.arange(SAMPLES) + SAMPLES * (len(SEEDS) * batch + run) for run in RUNS)
        chosen = torch.stack(list(rows))
        labels = self.task.train.y[chosen]
        trace = self.stack.forward(tuple(self.task.train.x[chosen].to(self.dtype)))
        _, error = cross_entropy_and_error(trace.logits, labels)
        return Step(trace, error, labels, progress)

    def show(self, rule: Rule, feedback: Feedback, run: int = 0, progress: float = 0.5) -> Shown:
        """One run's batch, in copies, with a note of everything that the rule asks for."""
        step, net = self.step(0, progress), deepcopy(self.nets[run]).to(self.dtype)
        states = [state[run].clone() for state in step.trace.states]
        along = self.stack.stream_backward(step.trace, step.error)
        gradient, error = [g[run].clone() for g in along], step.error[run].clone()
        offers: dict[Need, object] = {
            "error": error,
            "gradient": gradient,
            "readout": net.readout,
            "blocks": [lambda stream, block=block: block(stream) for block in net.blocks],
        }
        return Shown(
            states,
            step.labels[run].clone(),
            error,
            gradient,
            {name: tensor.clone() for name, tensor in feedback.items()},
            self._noise(rule, states, SEEDS[run]),
            progress,
            net.residual_add,
            Offers({need: offers[need] for need in rule.needs}),
        )

    def _noise(self, rule: Rule, states: Sequence[Tensor], seed: int) -> Tensor | None:
        shape, generator = rule.noise_shape(states), torch.Generator().manual_seed(seed)
        return None if shape is None else torch.randn(shape, generator=generator).to(self.dtype)

    def lift(
        self, rule: Rule, feedback: Sequence[Feedback], runs: Sequence[int] = RUNS
    ) -> LiftedRule:
        """The rule over some of the runs, as training asks it."""
        seeds = [SEEDS[run] for run in runs]
        return LiftedRule(rule, self.stack, [feedback[run] for run in runs], runs, seeds)

    def ask(self, lifted: LiftedRule, batch: int = 0, progress: float = 0.5) -> dict[str, Tensor]:
        """The credit of a batch and what was learned from it, by name, (runs, …)."""
        before: Mapping[str, Tensor] = dict(lifted.feedback)
        blocks, embed = lifted(self.step(batch, progress))
        credit = {f"the credit of block {i}": block for i, block in enumerate(blocks)}
        learned = {
            f"the learned {name!r}": tensor
            for name, tensor in lifted.feedback.items()
            if tensor is not before[name]
        }
        return {"the credit of the embedding": embed} | credit | learned
