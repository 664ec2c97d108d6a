"""Compute the credit of a whole cohort with a rule that is written for one network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import functional_call
from torch.utils._pytree import tree_map
from typing_extensions import TypedDict

from depthgauge.losses.contract import Loss
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP, StackedTrace
from depthgauge.rules.contract import Context, Rule
from depthgauge.rules.normalisation import compute_credit
from depthgauge.rules.offered_context import Offers, offer_context
from depthgauge.training.random_streams import random_stream
from depthgauge.training.rule_noise import draw_noise

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Step:
    """What the rules of a cohort may use of one batch; tensors are (runs, samples, …)."""

    trace: StackedTrace
    error: Tensor
    labels: Tensor
    progress: float


class RuleInput(TypedDict, total=False):
    """The tensors that a rule sees, of one run or of all runs of a cohort.

    `error`, `gradient`, `readout` and `blocks` are present only if the rule's `needs` list them.
    """

    states: tuple[Tensor, ...]
    target: Tensor
    error: Tensor
    gradient: Sequence[Tensor]
    readout: Parameters
    blocks: Parameters
    feedback: Parameters
    noise: Tensor


class RuleOutput(TypedDict):
    """The tensors that a rule returns: credit of the blocks and the embedding, and new feedback."""

    blocks: tuple[Tensor, ...]
    embed: Tensor
    learned: Parameters


class LiftedRule:
    """A rule that returns the normalised credit of many runs at once.

    The object holds the feedback of its runs: one stacked tensor for each name. After every batch,
    the feedback that the rule has learned replaces these tensors.

    Args:
        rule: the rule, with its options.
        net: the stacked networks.
        feedback: the feedback of each run.
        runs: the numbers of these runs in the stack, in the order of `feedback`; `members` holds
            the same numbers as a tensor on the device.
        seeds: the seeds of these runs, in the same order.
        loss: the loss of these runs; by default cross-entropy.
    """

    def __init__(
        self,
        rule: Rule,
        net: StackedResidualMLP,
        feedback: Sequence[dict[str, Tensor]],
        runs: Sequence[int],
        seeds: Sequence[int],
        *,
        loss: Loss | None = None,
    ) -> None:
        self.rule, self.net, self.runs, self.seeds = rule, net, list(runs), list(seeds)
        self.loss = loss or CrossEntropy()
        self.feedback = {name: torch.stack([own[name] for own in feedback]) for name in feedback[0]}
        self.members = torch.tensor(self.runs, device=net.device)
        self.start_epoch(0)

    def start_epoch(self, epoch: int) -> None:
        """Start each seed's noise from `random_stream("noise", seed, epoch)`."""
        self._streams = {seed: random_stream("noise", seed, epoch) for seed in self.seeds}
        self._drawn = False

    def noise_of(self, run: int) -> Tensor | None:
        """Return the state of a run's noise generator; None if this epoch has drawn no noise."""
        seed = self.seeds[self.runs.index(run)]
        return self._streams[seed].get_state() if self._drawn else None

    def continue_noise(self, run: int, state: Tensor | None) -> None:
        """Continue the noise of a run from a state that `noise_of` returned.

        All runs with the same seed have the same noise, so their noise continues too.
        """
        if state is not None:
            self._streams[self.seeds[self.runs.index(run)]].set_state(state)
            self._drawn = True

    def feedback_of(self, run: int) -> dict[str, Tensor]:
        """Return the present feedback of one run of the stack, as views."""
        place = self.runs.index(run)
        return {name: stacked[place] for name, stacked in self.feedback.items()}

    def __call__(self, step: Step) -> tuple[Sequence[Tensor], Tensor]:
        """Return the credit of each block, (runs, samples, d), and of the embedding.

        The rule then learns from the batch.
        """
        seen = self._rule_input(step)
        if len(self.runs) < self.net.num_runs:
            seen = tree_map(lambda tensor: tensor.index_select(0, self.members), seen)
        seen["feedback"] = self.feedback
        noise = self.draw_noise([state[0] for state in step.trace.states])
        if noise is not None:
            seen["noise"] = noise

        def ask(run: RuleInput) -> RuleOutput:
            context = self._context(run, step.progress)
            applied = compute_credit(self.rule, context)
            learned = dict(self.rule.learn(context))
            return {"blocks": tuple(applied.blocks), "embed": applied.embed, "learned": learned}

        output = torch.func.vmap(ask)(seen) if self.rule.batched else self._one_by_one(ask, seen)
        self._replace_feedback(output["learned"])
        return output["blocks"], output["embed"]

    def _replace_feedback(self, learned: dict[str, Tensor]) -> None:
        """Replace feedback by what was learned; names, shapes and types must be the same."""
        for name, tensor in learned.items():
            if name not in self.feedback or _kind(tensor) != _kind(self.feedback[name]):
                known = {kept: _kind(own) for kept, own in self.feedback.items()}
                raise ValueError(
                    f"`learn` of the rule {self.rule.name} returned {name!r}, {_kind(tensor)}, but "
                    f"the rule's feedback has {known}; return the same names, shapes and types"
                )
            self.feedback[name] = tensor.contiguous()

    def draw_noise(self, states: Sequence[Tensor]) -> Tensor | None:
        """Draw each run's noise for a batch; None if the rule uses none.

        `states` are the states h_0 … h_L of one run's network: the embedding's output, and the
        stream after each block. Runs of one seed get the same noise.
        """
        shape = self.rule.noise_shape(states)
        if shape is None:
            return None
        self._drawn = True
        drawn = {seed: draw_noise(shape, own, states[0]) for seed, own in self._streams.items()}
        return torch.stack([drawn[seed] for seed in self.seeds])

    def _rule_input(self, step: Step) -> RuleInput:
        """Return what the rule sees of all runs of the stack."""
        seen: RuleInput = {"states": step.trace.states, "target": step.labels}
        if "error" in self.rule.needs:
            seen["error"] = step.error
        if "gradient" in self.rule.needs:
            seen["gradient"] = self.net.stream_backward(step.trace, step.error)
        if "readout" in self.rule.needs:
            seen["readout"] = _starting_with("out_", self.net.parameters)
        if "blocks" in self.rule.needs:
            seen["blocks"] = _starting_with("blocks.", self.net.parameters)
        return seen

    def _context(self, run: RuleInput, progress: float) -> Context:
        offers: Offers = {
            "error": lambda: run["error"],
            "gradient": lambda: run["gradient"],
            "readout": lambda: _readout(self.net.template, run["readout"]),
            "blocks": lambda: _blocks(self.net.template, run["blocks"]),
        }
        return offer_context(
            self.rule,
            run["states"],
            target=run["target"],
            feedback=run["feedback"],
            progress=progress,
            offers=offers,
            noise=run.get("noise"),
            residual=self.net.residual_add,
            loss=self.loss,
        )

    def _one_by_one(self, ask: Callable[[RuleInput], RuleOutput], seen: RuleInput) -> RuleOutput:
        """Ask the rule for one run after the other, because the rule does not work under `vmap`."""
        outputs = [ask(tree_map(lambda t, p=p: t[p], seen)) for p in range(len(self.runs))]
        stacked: RuleOutput = tree_map(lambda *tensors: torch.stack(tensors), *outputs)
        return stacked


def _kind(stacked: Tensor) -> str:
    """Return shape and type of one run's part of a stacked tensor, in words."""
    return f"{tuple(stacked.shape[1:])} {stacked.dtype}"


def _starting_with(prefix: str, parameters: Parameters) -> Parameters:
    return {name: p for name, p in parameters.items() if name.startswith(prefix)}


def _strip_prefix(prefix: str, parameters: Parameters) -> Parameters:
    """Return the parameters whose names start with a prefix; remove the prefix from the names."""
    return {n.removeprefix(prefix): p for n, p in parameters.items() if n.startswith(prefix)}


def _readout(template: ResidualMLP, parameters: Parameters) -> Callable[[Tensor], Tensor]:
    norm = _strip_prefix("out_ln.", parameters)
    head = _strip_prefix("out_head.", parameters)

    def readout(stream: Tensor) -> Tensor:
        normed = functional_call(template.out_ln, norm, (stream,))
        logits: Tensor = functional_call(template.out_head, head, (normed,))
        return logits

    return readout


def _blocks(template: ResidualMLP, parameters: Parameters) -> list[Callable[[Tensor], Tensor]]:
    def function(index: int) -> Callable[[Tensor], Tensor]:
        own = _strip_prefix(f"blocks.{index}.", parameters)
        return lambda stream: functional_call(template.blocks[index], own, (stream,))

    return [function(index) for index in range(template.num_blocks)]
