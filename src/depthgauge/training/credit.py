"""From a rule written for one network to the credit of a whole cohort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call
from torch.utils._pytree import tree_map

from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stacked import StackedResidualMLP, StackedTrace
from depthgauge.rules.applied import applied_credit
from depthgauge.rules.contract import Context, Need, Rule

Parameters = dict[str, Tensor]


class LiftedRule:
    """A rule for one network, asked for the normalised credit of many at once.

    Args:
        rule: the rule, with its options.
        net: the stacked networks.
        feedback: for each tensor of the rule's feedback, the runs' own, stacked.
        runs: which runs of the stack the rule is for; None means all of them.
    """

    def __init__(
        self,
        rule: Rule,
        net: StackedResidualMLP,
        feedback: dict[str, Tensor],
        runs: Tensor | None = None,
    ) -> None:
        self.rule, self.net, self.feedback, self.runs = rule, net, feedback, runs

    def __call__(
        self, trace: StackedTrace, error: Tensor, labels: Tensor, progress: float
    ) -> tuple[Sequence[Tensor], Tensor]:
        """Credit of each block, (runs, samples, d), and of the embedding."""
        seen = self._seen(trace, error, labels)
        if self.runs is not None:
            seen = tree_map(lambda tensor: tensor[self.runs], seen)
        seen["feedback"] = self.feedback

        def one_run(run: dict[str, Any]) -> tuple[tuple[Tensor, ...], Tensor]:
            applied = applied_credit(self.rule, self._context(run, progress))
            return tuple(applied.blocks), applied.embed

        if self.rule.batched:
            lifted: tuple[Sequence[Tensor], Tensor] = torch.func.vmap(one_run)(seen)
            return lifted
        return _one_by_one(one_run, seen, len(labels) if self.runs is None else len(self.runs))

    def _seen(self, trace: StackedTrace, error: Tensor, labels: Tensor) -> dict[str, Any]:
        seen: dict[str, Any] = {"states": trace.states, "target": labels}
        if "error" in self.rule.needs:
            seen["error"] = error
        if "gradient" in self.rule.needs:
            seen["gradient"] = self.net.stream_backward(trace, error)
        for need, prefix in (("readout", "out_"), ("blocks", "blocks.")):
            if need in self.rule.needs:
                parameters = self.net.parameters.items()
                seen[need] = {name: p for name, p in parameters if name.startswith(prefix)}
        return seen

    def _context(self, run: dict[str, Any], progress: float) -> Context:
        offers: dict[Need, object] = {}
        if "error" in run:
            offers["error"] = run["error"]
        if "gradient" in run:
            offers["gradient"] = run["gradient"]
        if "readout" in run:
            offers["readout"] = _readout(self.net.template, run["readout"])
        if "blocks" in run:
            offers["blocks"] = _blocks(self.net.template, run["blocks"])
        return Context(run["states"], run["target"], run["feedback"], progress, offers)


def _one_by_one(
    one_run: Callable[[dict[str, Any]], tuple[tuple[Tensor, ...], Tensor]],
    seen: dict[str, Any],
    runs: int,
) -> tuple[Sequence[Tensor], Tensor]:
    apart = [one_run(tree_map(lambda t, r=run: t[r], seen)) for run in range(runs)]
    blocks = [torch.stack(layer) for layer in zip(*(b for b, _ in apart), strict=True)]
    return blocks, torch.stack([embed for _, embed in apart])


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
