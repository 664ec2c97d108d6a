"""Null calibration of a trained network: compare its Γ with the Γ of fresh random feedback.

Γ is the mean cosine between the credit that a rule gives and the true gradient. A rule draws fresh
feedback at random, in the same way as the feedback that it trains with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from depthgauge.auditing.trained_network import TrainedNetwork
from depthgauge.diagnosis.precision import in_float32
from depthgauge.gauges.credit import Convention, pair_with_gradients
from depthgauge.gauges.norms import unit_vectors
from depthgauge.gauges.null import NullReading, calibrate
from depthgauge.gauges.projection import ProjectedAlignment
from depthgauge.nets.batch_view import BatchView
from depthgauge.nets.preserve_state import preserve_state
from depthgauge.nets.residual_mlp import ResidualMLP
from depthgauge.rules.contract import Rule
from depthgauge.rules.credit_function import draw_noise, make_context
from depthgauge.rules.feedback import draw_feedback
from depthgauge.rules.positions import VECTORS

SAMPLES = 2048
"""The number of samples by the protocol."""
FIRST_SEED = 10_000
"""The seed of draw 0 by the protocol."""
SAME = 1e-4
"""Two computations of the same alignment may differ by less than this, by rounding."""

Feedback = dict[str, Tensor]


def reason_missing(trained: TrainedNetwork) -> str | None:
    """Return the reason why fresh feedback cannot be drawn for a network, or None."""
    if trained.feedback is None:
        return "the feedback was not saved with the checkpoint"
    if trained.rule is None:
        return "the rule of the network is not known; name it with --rule"
    if not trained.feedback:
        return f"{trained.rule.name} has no random feedback"
    return None


def calibrate_null(
    trained: TrainedNetwork,
    batch: tuple[Tensor, Tensor],
    draws: int,
    convention: Convention = "depthgauge",
    *,
    on_draws: Callable[[int], None] = lambda draws: None,
    first_seed: int = FIRST_SEED,
) -> NullReading:
    """Compare the Γ of the training feedback with the Γ of `draws` fresh random feedbacks.

    The gradients are computed once. Draw i is the feedback that the rule draws after
    `torch.manual_seed(first_seed + i)`. After each group of draws, `on_draws` is called with the
    number of draws in the group.
    """
    rule, feedback, shape = trained.rule, trained.feedback, trained.shape
    if rule is None or shape is None or not feedback:
        raise ValueError(reason_missing(trained))
    seen = in_float32(trained.reader())[0].see(*batch)
    alignment = _alignment(rule, seen, feedback, convention)
    draw = partial(draw_feedback, rule, trained.net, shape)
    parts = [alignment([feedback])]
    for start in range(0, draws, alignment.together):
        size = min(alignment.together, draws - start)
        seeds = range(first_seed + start, first_seed + start + size)
        parts.append(alignment(_fresh_feedback(draw, feedback, seeds)))
        on_draws(size)
    values = torch.cat(parts)
    measured_on = f"{len(seen):,} samples, {draws:,} fresh feedbacks"
    return calibrate(values[0], values[1:], convention, measured_on)


def _fresh_feedback(
    draw: Callable[[torch.Generator], Feedback], like: Feedback, seeds: Sequence[int]
) -> list[Feedback]:
    """Draw feedback with each seed, in the precision of the training feedback `like`.

    The default generator is seeded directly. `torch.manual_seed` gives the same draw, but also
    prepares every GPU, which takes longer than the draw.
    """
    drawn = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.default_generator.manual_seed(seed)
            own = draw(torch.default_generator)
            drawn.append({name: tensor.to(like[name].dtype) for name, tensor in own.items()})
    return drawn


class _Alignment(Protocol):
    """A computation of Γ for several feedbacks at once; the result is (feedbacks, layers)."""

    together: int
    """The number of feedbacks at once."""

    def __call__(self, feedback: Sequence[Feedback]) -> Tensor: ...


def _alignment(
    rule: Rule, seen: BatchView, feedback: Feedback, convention: Convention
) -> _Alignment:
    """Return the fast computation of Γ if it is right for the rule, else the general computation.

    The fast computation is right if the rule's method `projected` returns a source, and if both
    computations find the same Γ for the training feedback.
    """
    formed = _Formed(rule, seen, convention)
    source = rule.projected(make_context(rule, seen, feedback))
    if source is None:
        return formed
    projected = _Projected(source, seen, convention)
    apart = (projected([feedback]) - formed([feedback])).abs().nan_to_num().max()
    return projected if float(apart) < SAME else formed


class _Projected:
    """Computes Γ fast if the credit of each layer l is the product `source` · B_lᵀ.

    B_l is the feedback matrix of the layer. The products themselves are never computed.
    """

    together = 100

    def __init__(self, source: Tensor, seen: BatchView, convention: Convention) -> None:
        self._blocks, self._convention = len(seen.states) - 1, convention
        self._source, self._seen = source, seen
        self._alignment: ProjectedAlignment | None = None

    def __call__(self, feedback: Sequence[Feedback]) -> Tensor:
        if self._alignment is None:
            self._alignment = self._with_matrices_of(feedback[0]["B"].shape[1])
        matrices = torch.stack([drawn["B"] for drawn in feedback], 1)
        layers = pair_with_gradients([matrices[0], *matrices[: self._blocks]], self._convention)
        return self._alignment(layers)

    def _with_matrices_of(self, rows: int) -> ProjectedAlignment:
        """Return the computation for matrices with a row for each feature, or for each entry."""
        layout, gradients = self._seen.net.layout, self._seen.unit_gradients
        arranged = [g if g.dim() == VECTORS else layout.arrange(g) for g in gradients]
        if rows != arranged[0].shape[-1]:
            arranged = [g.movedim(layout.sample_axis, 0).flatten(1) for g in gradients]
        return ProjectedAlignment(self._source, arranged)


class _Formed:
    """Computes the credit of any rule, and Γ from the credit.

    If the rule is `batched`, several feedbacks are computed at once, unless the rule runs parts of
    another network than ResidualMLP. The credit is not normalised, because normalisation does not
    change the direction of a vector.
    """

    together = 8

    def __init__(self, rule: Rule, seen: BatchView, convention: Convention) -> None:
        self._rule, self._seen, self._convention = rule, seen, convention
        self._noise = draw_noise(rule, seen)
        dtype = seen.states[0].dtype
        runs_network = not rule.needs.isdisjoint({"readout", "blocks"})
        is_general = not isinstance(seen.net.model, ResidualMLP)
        self._is_lifted = rule.batched and not (runs_network and is_general)
        self._arrange = seen.net.layout.arrange
        self._directions = [
            unit_vectors(self._flat(gradient)).to(dtype) for gradient in seen.unit_gradients
        ]

    def __call__(self, feedback: Sequence[Feedback]) -> Tensor:
        with preserve_state(self._seen.net.model), torch.no_grad():
            if not self._is_lifted:
                return torch.stack([self._one(drawn) for drawn in feedback])
            names = feedback[0].keys()
            stacked = {name: torch.stack([drawn[name] for drawn in feedback]) for name in names}
            lifted: Tensor = torch.func.vmap(self._one)(stacked)
            return lifted

    def _one(self, drawn: Feedback) -> Tensor:
        given = self._rule.credit(make_context(self._rule, self._seen, drawn, self._noise))
        credit = pair_with_gradients([given.embed, *given.blocks], self._convention)
        pairs = zip(credit, self._directions, strict=True)
        return torch.stack([_mean_cosine(self._flat(a), g) for a, g in pairs])

    def _flat(self, stream: Tensor) -> Tensor:
        """Return each sample's entries as one row; a stream of vectors stays as it is."""
        return stream if stream.dim() == VECTORS else self._arrange(stream).flatten(1)


def _mean_cosine(credit: Tensor, directions: Tensor) -> Tensor:
    """Return the mean over samples of the cosine between credit and the unit vectors `directions`.

    A sample does not count if its credit or its direction is zero.
    """
    if credit.shape != directions.shape:  # published: the gradient at the input of a stage
        return directions.new_tensor(torch.nan, dtype=torch.float64)
    largest = credit.abs().amax(-1, keepdim=True)
    scaled = credit / torch.where(largest > 0, largest, 1.0)
    counted = (largest.squeeze(-1) > 0) & directions.any(-1)
    norms = torch.linalg.vector_norm(scaled, dim=-1)
    cosines = (scaled * directions).sum(-1) / torch.where(counted, norms, 1.0)
    return torch.where(counted, cosines, 0.0).double().sum() / counted.sum()
