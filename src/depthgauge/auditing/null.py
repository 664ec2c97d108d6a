"""Null calibration of a trained network: its Γ beside that of fresh feedback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast

import torch
from torch import Tensor

from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.diagnosis.precision import in_float32
from depthgauge.gauges.credit import Convention, pair_with_gradients
from depthgauge.gauges.norms import unit_vectors
from depthgauge.gauges.null import NullReading, calibrate
from depthgauge.gauges.projection import ProjectedAlignment
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.rules.contract import Rule
from depthgauge.rules.credit_function import context_of, reading_noise

SAMPLES = 2048
FIRST_SEED = 10_000
SAME = 1e-4
"""Two ways to the same alignment may differ by rounding, up to this."""

Feedback = dict[str, Tensor]


def reason_missing(trained: TrainedNetwork) -> str | None:
    """Return why there is no null for a network; None where there is one."""
    if trained.feedback is None:
        return "the feedback was not saved with the checkpoint"
    if trained.rule is None:
        return "the rule that it was trained by is not known; name it with --rule"
    if not trained.feedback:
        return f"{trained.rule.name} has no feedback that could be drawn afresh"
    return None


def calibrate_null(
    trained: TrainedNetwork,
    batch: tuple[Tensor, Tensor],
    draws: int,
    convention: Convention = "depthgauge",
    on_draws: Callable[[int], None] = lambda draws: None,
) -> NullReading:
    """Γ with the training feedback, and with `draws` fresh ones.

    The gradients are taken once. Draw i is what `torch.manual_seed(10000 + i)` gives.
    """
    rule, feedback, net = trained.rule, trained.feedback, cast(ResidualMLP, trained.net)
    if rule is None or not feedback:
        raise ValueError(reason_missing(trained))
    seen = in_float32(StreamReader(net))[0].see(*batch)
    alignment = _alignment(rule, net, seen, feedback, convention)
    parts = [alignment([feedback])]
    for start in range(0, draws, alignment.together):
        size = min(alignment.together, draws - start)
        parts.append(alignment(fresh_feedback(rule, net, feedback, start, size)))
        on_draws(size)
    values = torch.cat(parts)
    measured_on = f"{len(seen):,} samples, {draws:,} fresh feedbacks"
    return calibrate(values[0], values[1:], convention, measured_on)


def fresh_feedback(
    rule: Rule, net: ResidualMLP, like: Feedback, start: int, size: int
) -> list[Feedback]:
    """Draws number `start` and on, in the precision of the training feedback.

    The default generator is seeded directly: `torch.manual_seed` does the same, and then keeps a
    note for every GPU that might be used later, which takes longer than the draw.
    """
    drawn = []
    with torch.random.fork_rng(devices=[]):
        for number in range(start, start + size):
            torch.default_generator.manual_seed(FIRST_SEED + number)
            own = rule.feedback(net, torch.default_generator)
            drawn.append({name: tensor.to(like[name].dtype) for name, tensor in own.items()})
    return drawn


class _Alignment(Protocol):
    """Γ at every layer for several feedbacks at once, (feedbacks, layers)."""

    together: int

    def __call__(self, feedback: Sequence[Feedback]) -> Tensor: ...


def _alignment(
    rule: Rule, net: ResidualMLP, seen: BatchView, feedback: Feedback, convention: Convention
) -> _Alignment:
    """The quick way where the rule offers it and it gives what the rule's own credit gives."""
    formed = _Formed(rule, seen, convention)
    source = rule.projected(context_of(rule, seen, feedback))
    if source is None:
        return formed
    projected = _Projected(source, net, seen, convention)
    apart = (projected([feedback]) - formed([feedback])).abs().nan_to_num().max()
    return projected if float(apart) < SAME else formed


class _Projected:
    """Where the credit is s·B_lᵀ: without forming it."""

    together = 100

    def __init__(
        self, source: Tensor, net: ResidualMLP, seen: BatchView, convention: Convention
    ) -> None:
        self._blocks, self._convention = net.num_blocks, convention
        self._alignment = ProjectedAlignment(source, seen.unit_gradients)

    def __call__(self, feedback: Sequence[Feedback]) -> Tensor:
        matrices = torch.stack([drawn["B"] for drawn in feedback], 1)
        layers = pair_with_gradients([matrices[0], *matrices[: self._blocks]], self._convention)
        return self._alignment(layers)


class _Formed:
    """For any rule: its credit, for several feedbacks at once where the rule can be lifted.

    Normalisation is left out, because it does not turn a vector.
    """

    together = 8

    def __init__(self, rule: Rule, seen: BatchView, convention: Convention) -> None:
        self._rule, self._seen, self._convention = rule, seen, convention
        self._noise = reading_noise(rule, seen)
        dtype = seen.states[0].dtype
        self._directions = [unit_vectors(gradient).to(dtype) for gradient in seen.unit_gradients]

    @torch.no_grad()
    def __call__(self, feedback: Sequence[Feedback]) -> Tensor:
        if not self._rule.batched:
            return torch.stack([self._one(drawn) for drawn in feedback])
        stacked = {name: torch.stack([drawn[name] for drawn in feedback]) for name in feedback[0]}
        lifted: Tensor = torch.func.vmap(self._one)(stacked)
        return lifted

    def _one(self, drawn: Feedback) -> Tensor:
        given = self._rule.credit(context_of(self._rule, self._seen, drawn, self._noise))
        credit = pair_with_gradients([given.embed, *given.blocks], self._convention)
        pairs = zip(credit, self._directions, strict=True)
        return torch.stack([_mean_cosine(a, g) for a, g in pairs])


def _mean_cosine(credit: Tensor, directions: Tensor) -> Tensor:
    """Mean over samples of the cosine with unit vectors, where both vectors point somewhere."""
    largest = credit.abs().amax(-1, keepdim=True)
    scaled = credit / torch.where(largest > 0, largest, 1.0)
    counted = (largest.squeeze(-1) > 0) & directions.any(-1)
    norms = torch.linalg.vector_norm(scaled, dim=-1)
    cosines = (scaled * directions).sum(-1) / torch.where(counted, norms, 1.0)
    return torch.where(counted, cosines, 0.0).double().sum() / counted.sum()
