"""Null calibration of a trained network: its Γ beside that of fresh feedback."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from depthgauge.gauges.credit import Convention, paired
from depthgauge.gauges.norms import unit_vectors
from depthgauge.gauges.null import NullReading, calibrate
from depthgauge.gauges.projection import projected_alignment
from depthgauge.nets.opened import OpenedNet, SeenBatch
from depthgauge.rules.contract import Rule
from depthgauge.rules.on_network import context_of, rule_credit
from depthgauge.studies.trained import Trained

SAMPLES = 2048
FIRST_SEED = 10_000
TOGETHER, FORMED_TOGETHER = 100, 8
"""Draws worked on at once: as projections, and where every credit tensor must be formed."""

Feedback = dict[str, Tensor]


def why_not(trained: Trained) -> str | None:
    """Why there is no null for a network; None where there is one."""
    if trained.feedback is None:
        return "n/a: the feedback was not saved with the checkpoint"
    if trained.rule is None:
        return "n/a: the rule that it was trained by is not known; name it with --rule"
    if not trained.feedback:
        return f"n/a: {trained.rule.name} has no feedback that could be drawn afresh"
    return None


def calibrate_null(
    trained: Trained,
    batch: tuple[Tensor, Tensor],
    draws: int,
    convention: Convention = "depthgauge",
    on_draws: Callable[[int], None] = lambda draws: None,
) -> NullReading:
    """Γ with the training feedback, and with `draws` fresh ones.

    The gradients are taken once. Draw i is what `torch.manual_seed(10000 + i)` gives.
    """
    reason = why_not(trained)
    if reason is not None or trained.rule is None or trained.feedback is None:
        raise ValueError(reason)
    seen = OpenedNet(trained.net).see(*batch)
    alignment = _projected if _source(trained.rule, trained, seen) is not None else _formed
    together = TOGETHER if alignment is _projected else FORMED_TOGETHER
    parts, done = [], 0
    while done < draws + 1:
        size = min(together, draws + 1 - done)
        feedback = [_feedback(trained, done + i - 1) for i in range(size)]
        parts.append(alignment(trained.rule, trained, seen, feedback, convention))
        done += size
        on_draws(size)
    values = torch.cat(parts)
    measured_on = f"{len(seen):,} samples, {draws:,} fresh feedbacks"
    return calibrate(values[0], values[1:], convention, measured_on)


def _feedback(trained: Trained, draw: int) -> Feedback:
    """Fresh feedback number `draw`; number −1 is the training feedback."""
    if trained.rule is None or trained.feedback is None:
        raise ValueError(why_not(trained))
    if draw < 0:
        return trained.feedback
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(FIRST_SEED + draw)
        return trained.rule.feedback(trained.net, torch.default_generator)


def _source(rule: Rule, trained: Trained, seen: SeenBatch) -> Tensor | None:
    return rule.projected(context_of(rule, trained.net, seen, trained.feedback or {}))


def _projected(
    rule: Rule,
    trained: Trained,
    seen: SeenBatch,
    feedback: Sequence[Feedback],
    convention: Convention,
) -> Tensor:
    """Where the credit is s·B_lᵀ: without forming it."""
    source = _source(rule, trained, seen)
    if source is None:
        raise ValueError(f"{rule.name} projects nothing")
    matrices = torch.stack([drawn["B"] for drawn in feedback], 1)
    layers = paired([matrices[0], *matrices[: trained.net.num_blocks]], convention)
    return projected_alignment(source, seen.unit_gradients, layers)


@torch.no_grad()
def _formed(
    rule: Rule,
    trained: Trained,
    seen: SeenBatch,
    feedback: Sequence[Feedback],
    convention: Convention,
) -> Tensor:
    """For any rule: its credit, for several feedbacks at once where the rule can be lifted."""
    directions = [unit_vectors(gradient) for gradient in seen.unit_gradients]

    def one_draw(drawn: Feedback) -> Tensor:
        credit = paired(rule_credit(rule, trained.net, drawn)(seen), convention)
        return torch.stack([_aligned(a, g) for a, g in zip(credit, directions, strict=True)])

    if not rule.batched:
        return torch.stack([one_draw(drawn) for drawn in feedback])
    stacked = {name: torch.stack([drawn[name] for drawn in feedback]) for name in feedback[0]}
    lifted: Tensor = torch.func.vmap(one_draw)(stacked)
    return lifted


def _aligned(credit: Tensor, directions: Tensor) -> Tensor:
    """Mean over samples of the cosine with unit vectors, where both vectors point somewhere."""
    unit = unit_vectors(credit)
    counted = unit.any(-1) & directions.any(-1)
    return (unit * directions).sum() / counted.sum()
