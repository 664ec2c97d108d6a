"""The rule that is checked, with three tiny networks, their seeds and their batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from depthgauge.checks.observed_batch import ObservedBatch, ObservedNeeds
from depthgauge.config import NetConfig
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.losses.of_runs import value_and_error_of_runs
from depthgauge.nets.net_shape import NetShape
from depthgauge.nets.registry import initial_net
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP
from depthgauge.rules.choice import RuleChoice
from depthgauge.rules.contract import Need, Rule
from depthgauge.rules.feedback import draw_feedback
from depthgauge.tasks.base import Split, Task
from depthgauge.training.stacked_mlp.lifted_rule import LiftedRule, Step

INPUTS, CLASSES, SAMPLES, BATCHES = 6, 4, 5, 3
SEEDS = (1, 2, 3)
RUNS = tuple(range(len(SEEDS)))
NET = NetConfig(width=8, blocks=3, w2_std=0.3)
PROGRESS = (0.0, 0.5, 1.0)
"""The start of training, its middle, and the value for a trained network that is measured."""

Feedback = dict[str, Tensor]


def tiny_task() -> Task:
    """Make a task of random samples of every class, enough for all batches of all runs."""
    samples = SAMPLES * BATCHES * len(SEEDS)
    x = torch.randn(samples, INPUTS, generator=torch.Generator().manual_seed(0))
    split = Split(x, torch.arange(samples) % CLASSES)
    return Task("tiny", split, split, CLASSES)


@dataclass(frozen=True)
class CheckedRule:
    """The rule that is checked, and the networks and batches on which it is checked.

    Attributes:
        choice: the rule with its options.
        dtype: the precision of networks and batches.
    """

    choice: RuleChoice
    dtype: torch.dtype = torch.float64

    def in_precision(self, dtype: torch.dtype) -> CheckedRule:
        """Return the same rule with networks and batches in float32 or float64."""
        return self if dtype == self.dtype else self._in_other_precision

    @cached_property
    def _in_other_precision(self) -> CheckedRule:
        other = torch.float32 if self.dtype == torch.float64 else torch.float64
        return CheckedRule(self.choice, other)

    def build(self) -> Rule:
        """Make a new, unused rule."""
        return self.choice.build()

    @cached_property
    def task(self) -> Task:
        """The task of the networks."""
        return tiny_task()

    @cached_property
    def nets(self) -> list[ResidualMLP]:
        """One untrained network for each seed."""
        nets = (initial_net(self.choice.net(NET), self.task, seed) for seed in SEEDS)
        return [cast(ResidualMLP, net) for net in nets]

    @cached_property
    def stack(self) -> StackedResidualMLP:
        """The networks, stacked as for training."""
        blocks = [net.num_blocks for net in self.nets]
        return StackedResidualMLP(self.nets, RUNS, blocks, self.dtype)

    def draw(self, rule: Rule, run: int, seed: int | None = None) -> Feedback:
        """Let the rule draw its feedback for a run, with the run's seed or another one."""
        net, own = self.nets[run], SEEDS[run] if seed is None else seed
        return draw_feedback(rule, net, NetShape.of(net), torch.Generator().manual_seed(own))

    def draw_feedback(self, rule: Rule, run: int) -> Feedback:
        """Let the rule draw its feedback for a run, and convert it to this precision."""
        drawn = self.draw(rule, run)
        return {
            name: tensor.to(self.dtype) if tensor.is_floating_point() else tensor
            for name, tensor in drawn.items()
        }

    def draw_all_feedback(self) -> list[Feedback]:
        """Draw the feedback of every run; for each run a new instance of the rule is made."""
        return [self.draw_feedback(self.build(), run) for run in RUNS]

    def step(self, batch: int = 0, progress: float = 0.5) -> Step:
        """Return a batch for every run, with the states and errors that training would compute."""
        rows = (torch.arange(SAMPLES) + SAMPLES * (len(SEEDS) * batch + run) for run in RUNS)
        chosen = torch.stack(list(rows))
        labels = self.task.train.y[chosen]
        trace = self.stack.forward(tuple(self.task.train.x[chosen].to(self.dtype)))
        _, error = value_and_error_of_runs(CrossEntropy(), trace.logits, labels)
        return Step(trace, error, labels, progress)

    def observe(
        self, rule: Rule, feedback: Feedback, run: int = 0, progress: float = 0.5
    ) -> ObservedBatch:
        """Return a copy of one run's batch; the copy notes what the rule asks for and changes."""
        step, net = self.step(0, progress), deepcopy(self.nets[run]).to(self.dtype)
        states = [state[run].clone() for state in step.trace.states]
        gradients = self.stack.stream_backward(step.trace, step.error)
        gradient, error = [g[run].clone() for g in gradients], step.error[run].clone()
        offers: dict[Need, object] = {
            "error": error,
            "gradient": gradient,
            "readout": net.readout,
            "blocks": [lambda stream, block=block: block(stream) for block in net.blocks],
        }
        return ObservedBatch(
            states,
            step.labels[run].clone(),
            error,
            gradient,
            {name: tensor.clone() for name, tensor in feedback.items()},
            self._noise(rule, states, SEEDS[run]),
            progress,
            net.residual_add,
            ObservedNeeds({need: offers[need] for need in rule.needs}),
        )

    def _noise(self, rule: Rule, states: Sequence[Tensor], seed: int) -> Tensor | None:
        shape, generator = rule.noise_shape(states), torch.Generator().manual_seed(seed)
        return None if shape is None else torch.randn(shape, generator=generator).to(self.dtype)

    def lift(
        self, rule: Rule, feedback: Sequence[Feedback], runs: Sequence[int] = RUNS
    ) -> LiftedRule:
        """Return the rule in the form that training uses: it handles several runs at once."""
        seeds = [SEEDS[run] for run in runs]
        return LiftedRule(rule, self.stack, [feedback[run] for run in runs], runs, seeds)

    def ask(self, lifted: LiftedRule, batch: int = 0, progress: float = 0.5) -> dict[str, Tensor]:
        """Return by name the credit of a batch and the learned feedback.

        The first axis of each tensor stands for the runs.
        """
        before: Mapping[str, Tensor] = dict(lifted.feedback)
        blocks, embed = lifted(self.step(batch, progress))
        credit = {f"the credit of block {i}": block for i, block in enumerate(blocks)}
        learned = {
            f"the learned {name!r}": tensor
            for name, tensor in lifted.feedback.items()
            if tensor is not before[name]
        }
        return {"the credit of the embedding": embed} | credit | learned
