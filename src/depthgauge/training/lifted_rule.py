"""From a rule written for one network to the credit of a whole cohort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import functional_call
from torch.utils._pytree import tree_map
from typing_extensions import TypedDict

from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked.network import StackedResidualMLP, StackedTrace
from depthgauge.rules.contract import Context, Need, Rule
from depthgauge.rules.normalisation import compute_credit
from depthgauge.training.random_streams import random_stream

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Step:
    """What a cohort's rules are asked about: one batch of every run, (runs, samples, …)."""

    trace: StackedTrace
    error: Tensor
    labels: Tensor
    progress: float


class Seen(TypedDict, total=False):
    """What a rule sees of all its runs, or of one of them; without what it does not need."""

    states: tuple[Tensor, ...]
    target: Tensor
    error: Tensor
    gradient: Sequence[Tensor]
    readout: Parameters
    blocks: Parameters
    feedback: Parameters
    noise: Tensor


class Given(TypedDict):
    """What a rule gives: credit of each block and of the embedding, and the feedback it learned."""

    blocks: tuple[Tensor, ...]
    embed: Tensor
    learned: Parameters


class LiftedRule:
    """A rule for one network, asked for the normalised credit of many at once.

    It owns the feedback of its runs: one stacked tensor for each name, which rules that learn
    replace after every batch.

    Args:
        rule: the rule, with its options.
        net: the stacked networks.
        feedback: each run's own.
        runs: which runs of the stack the rule is for, in the order of `feedback`; `members` has
            them on the device.
        seeds: theirs, in the same order.
    """

    def __init__(
        self,
        rule: Rule,
        net: StackedResidualMLP,
        feedback: Sequence[dict[str, Tensor]],
        runs: Sequence[int],
        seeds: Sequence[int],
    ) -> None:
        self.rule, self.net, self.runs, self.seeds = rule, net, list(runs), list(seeds)
        self.feedback = {name: torch.stack([own[name] for own in feedback]) for name in feedback[0]}
        self.members = torch.tensor(self.runs, device=net.device)
        self.start_epoch(0)

    def start_epoch(self, epoch: int) -> None:
        """Start each seed's noise from `random_stream("noise", seed, epoch)`."""
        self._streams = {seed: random_stream("noise", seed, epoch) for seed in self.seeds}
        self._drawn = False

    def noise_of(self, run: int) -> Tensor | None:
        """How far the noise of one run has been drawn; None if nothing was in this epoch."""
        seed = self.seeds[self.runs.index(run)]
        return self._streams[seed].get_state() if self._drawn else None

    def continue_noise(self, run: int, state: Tensor | None) -> None:
        """Draw the noise of a run, and of all runs of its seed, on from `noise_of`."""
        if state is not None:
            self._streams[self.seeds[self.runs.index(run)]].set_state(state)
            self._drawn = True

    def feedback_of(self, run: int) -> dict[str, Tensor]:
        """The present feedback of one run of the stack, as views."""
        place = self.runs.index(run)
        return {name: stacked[place] for name, stacked in self.feedback.items()}

    def __call__(self, step: Step) -> tuple[Sequence[Tensor], Tensor]:
        """Credit of each block, (runs, samples, d), and of the embedding; then the rule learns."""
        seen = self._seen(step)
        if len(self.runs) < self.net.num_runs:
            seen = tree_map(lambda tensor: tensor.index_select(0, self.members), seen)
        seen["feedback"] = self.feedback
        noise = self.draw_noise([state[0] for state in step.trace.states])
        if noise is not None:
            seen["noise"] = noise

        def one_run(run: Seen) -> Given:
            context = self._context(run, step.progress)
            applied = compute_credit(self.rule, context)
            learned = dict(self.rule.learn(context))
            return {"blocks": tuple(applied.blocks), "embed": applied.embed, "learned": learned}

        given = torch.func.vmap(one_run)(seen) if self.rule.batched else self._apart(one_run, seen)
        self._take(given["learned"])
        return given["blocks"], given["embed"]

    def _take(self, learned: dict[str, Tensor]) -> None:
        """Replace what was learned, which must be like what was there."""
        for name, tensor in learned.items():
            if name not in self.feedback or _kind(tensor) != _kind(self.feedback[name]):
                known = {kept: _kind(own) for kept, own in self.feedback.items()}
                raise ValueError(
                    f"the rule {self.rule.name} learned {name!r}, {_kind(tensor)}; its feedback "
                    f"has {known}"
                )
            self.feedback[name] = tensor.contiguous()

    def draw_noise(self, states: Sequence[Tensor]) -> Tensor | None:
        """Each run's noise for a batch on which one of them has these states, if it wants any.

        Runs of one seed have the same, so it is drawn once for them.
        """
        shape = self.rule.noise_shape(states)
        if shape is None:
            return None
        self._drawn = True
        drawn = {seed: _noise(shape, own, states[0]) for seed, own in self._streams.items()}
        return torch.stack([drawn[seed] for seed in self.seeds])

    def _seen(self, step: Step) -> Seen:
        seen: Seen = {"states": step.trace.states, "target": step.labels}
        if "error" in self.rule.needs:
            seen["error"] = step.error
        if "gradient" in self.rule.needs:
            seen["gradient"] = self.net.stream_backward(step.trace, step.error)
        if "readout" in self.rule.needs:
            seen["readout"] = _starting_with("out_", self.net.parameters)
        if "blocks" in self.rule.needs:
            seen["blocks"] = _starting_with("blocks.", self.net.parameters)
        return seen

    def _context(self, run: Seen, progress: float) -> Context:
        offers: dict[Need, object] = {}
        if "error" in run:
            offers["error"] = run["error"]
        if "gradient" in run:
            offers["gradient"] = run["gradient"]
        if "readout" in run:
            offers["readout"] = _readout(self.net.template, run["readout"])
        if "blocks" in run:
            offers["blocks"] = _blocks(self.net.template, run["blocks"])
        return Context(
            run["states"],
            run["target"],
            run["feedback"],
            progress,
            offers,
            noise=run.get("noise"),
            residual=self.net.residual_add,
        )

    def _apart(self, one_run: Callable[[Seen], Given], seen: Seen) -> Given:
        """Run by run, for rules that cannot be lifted."""
        apart = [one_run(tree_map(lambda t, p=p: t[p], seen)) for p in range(len(self.runs))]
        stacked: Given = tree_map(lambda *tensors: torch.stack(tensors), *apart)
        return stacked


def _noise(shape: tuple[int, ...], generator: torch.Generator, like: Tensor) -> Tensor:
    """Drawn on the host, so that every device has the same; a GPU fetches it, and nobody waits."""
    drawn = torch.randn(shape, generator=generator, pin_memory=like.is_cuda)
    return drawn.to(like.device, non_blocking=True).to(like.dtype)


def _kind(stacked: Tensor) -> str:
    """Shape and type of each run's part of a stacked tensor."""
    return f"{tuple(stacked.shape[1:])} {stacked.dtype}"


def _starting_with(prefix: str, parameters: Parameters) -> Parameters:
    return {name: p for name, p in parameters.items() if name.startswith(prefix)}


def _below(parameters: Parameters, prefix: str) -> Parameters:
    return {n.removeprefix(prefix): p for n, p in parameters.items() if n.startswith(prefix)}


def _readout(template: ResidualMLP, parameters: Parameters) -> Callable[[Tensor], Tensor]:
    norm, head = _below(parameters, "out_ln."), _below(parameters, "out_head.")

    def readout(stream: Tensor) -> Tensor:
        normed = functional_call(template.out_ln, norm, (stream,))
        logits: Tensor = functional_call(template.out_head, head, (normed,))
        return logits

    return readout


def _blocks(template: ResidualMLP, parameters: Parameters) -> list[Callable[[Tensor], Tensor]]:
    def function(index: int) -> Callable[[Tensor], Tensor]:
        own = _below(parameters, f"blocks.{index}.")
        return lambda stream: functional_call(template.blocks[index], own, (stream,))

    return [function(index) for index in range(template.num_blocks)]
