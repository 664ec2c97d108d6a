"""The contract of a learning rule: a rule turns one network's forward pass into credit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from depthgauge.config_part import ConfigPart
from depthgauge.losses.contract import Loss
from depthgauge.losses.cross_entropy import CrossEntropy
from depthgauge.nets.layout import Layout
from depthgauge.nets.net_shape import NetShape
from depthgauge.rules.positions import error_at, like_stream

Need = Literal["error", "readout", "blocks", "gradient"]
Normalise = Literal["sample", "batch", "none"]


@dataclass(frozen=True)
class Credit:
    """A rule's estimates of the gradients of each sample's own loss.

    Attributes:
        blocks: for each block l an estimate of g_{l+1}, the gradient at the block's output.
        embed: an estimate of g_0, the gradient at the embedding's output.

    Every tensor has the shape of the state whose gradient it estimates.
    """

    blocks: Sequence[Tensor]
    embed: Tensor


class Context:
    """What a rule may see of one network on one batch; all tensors are detached.

    Attributes:
        states: h_0 … h_L, each (samples, d), or with axes of positions between.
        target: the labels, (samples,), or (samples, tokens).
        feedback: the tensors that the rule's `feedback` returned for this run, as `learn` has
            changed them since.
        progress: the fraction of training that is over, in [0, 1); 1 when a trained network is
            measured.
        residual: whether blocks add a branch to the stream; if not, they replace the stream.
        layout: which axes of a state are samples, positions and features.
        loss: the loss; `loss.value(output, target)` is one number for each sample.

    Only for a rule that has a `noise_shape`:
        noise: standard normal numbers of the shape `noise_shape`, drawn for every batch. They
            depend on the run's seed and the batch alone.

    Only for a rule that lists them in `needs`:
        error: the gradient of each sample's own loss at the network's output; with cross-entropy,
            softmax(logits) − onehot(target).
        readout: a function from h_L to the output. With it comes `last_gradient`, which is g_L.
        blocks: for each block a function from its input to its branch.
        gradient: g_0 … g_L, the true gradients of each sample's own loss.
    """

    def __init__(
        self,
        states: Sequence[Tensor],
        target: Tensor,
        feedback: Mapping[str, Tensor],
        progress: float,
        offers: Mapping[Need, object],
        *,
        noise: Tensor | None = None,
        residual: bool = True,
        layout: Layout | None = None,
        loss: Loss | None = None,
        last_gradient: Callable[[], Tensor] | None = None,
    ) -> None:
        self.states = tuple(states)
        self.target = target
        self.feedback = feedback
        self.progress = progress
        self._offers = offers
        self._noise = noise
        self.residual = residual
        self.layout = layout or Layout()
        self.loss: Loss = loss or CrossEntropy()
        self._last_gradient = last_gradient

    def _declared(self, need: Need) -> object:
        if need not in self._offers:
            raise LookupError(
                f"the rule uses {need!r}, which its `needs` do not list; add {need!r} to `needs`"
            )
        return self._offers[need]

    @property
    def noise(self) -> Tensor:
        """The run's noise for this batch."""
        if self._noise is None:
            raise LookupError(
                "the rule uses noise, but its `noise_shape` returns None; define noise_shape(self, "
                "states)"
            )
        return self._noise

    @property
    def error(self) -> Tensor:
        """The error e = ∂loss_i/∂output_i, of the shape of the output."""
        return self._declared("error")  # type: ignore[return-value]

    def project(self, source: Tensor, matrix: Tensor, state: int) -> Tensor:
        """Return source·matrixᵀ in the shape of h_l, where `state` is l.

        One vector for a sample is copied to all positions. With a vector for each token, each
        position gets the vector of its own token if the state has as many positions, else the sum.

        Args:
            source: what is projected, of the shape of the output, such as the error.
            matrix: (features of h_l, last axis of the source).
            state: the number l of the state.
        """
        like = self.states[state]
        return like_stream(error_at(source, like, self.layout) @ matrix.T, like, self.layout)

    @property
    def readout(self) -> Callable[[Tensor], Tensor]:
        """The function from h_L to the network's output."""
        return self._declared("readout")  # type: ignore[return-value]

    @cached_property
    def last_gradient(self) -> Tensor:
        """g_L, the gradient of each sample's own loss at h_L; a rule with `readout` may use it."""
        readout = self.readout
        if self._last_gradient is not None:
            return self._last_gradient()

        def total(stream: Tensor) -> Tensor:
            return self.loss.value(readout(stream), self.target).sum()

        gradient: Tensor = torch.func.grad(total)(self.states[-1])
        return gradient

    @property
    def blocks(self) -> Sequence[Callable[[Tensor], Tensor]]:
        """For each block l, the function from its input h_l to its branch f_l."""
        return self._declared("blocks")  # type: ignore[return-value]

    @property
    def gradient(self) -> Sequence[Tensor]:
        """The true gradients g_0 … g_L of each sample's own loss at the states h_0 … h_L."""
        return self._declared("gradient")  # type: ignore[return-value]


class RuleOptions(ConfigPart):
    """Options of a rule: validated, documented, and part of a run's identity.

    Options in `fixed` are part of a run's configuration, but users cannot choose them. Options in
    `added` came later than the first runs of the rule: they are written only if they differ from
    their default, so that the identity of earlier runs does not change. Credit is applied as the
    rule returns it, unless a normalisation is chosen or is the rule's default
    (`NormalisedOptions`).
    """

    fixed: ClassVar[frozenset[str]] = frozenset()

    normalise: Normalise = Field(
        default="none",
        description="divide the credit by its RMS over each sample, over the batch, or not at all",
    )
    epsilon: float = Field(
        default=1e-6,
        ge=0,
        allow_inf_nan=False,
        description="added to the RMS of the credit before dividing",
    )


class NormalisedOptions(RuleOptions):
    """Options of a rule that by default divides each sample's credit by the credit's RMS."""

    normalise: Normalise = Field(
        default="sample", description=RuleOptions.model_fields["normalise"].description
    )


class Rule(ABC):
    """A learning rule, written for one network and one batch.

    The engine runs the rule for many networks at once with `torch.func.vmap`. If `vmap` cannot run
    a rule, the rule sets `batched = False`. Examples are a rule that calls `.item()`, and a rule
    whose number of steps depends on the data. A rule whose `feedback` is made from the network's
    weights sets `copies_weights = True`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[frozenset[Need]] = frozenset()
    batched: ClassVar[bool] = True
    end_to_end: ClassVar[bool] = False
    copies_weights: ClassVar[bool] = False
    Options: ClassVar[type[RuleOptions]] = RuleOptions

    def __init__(self, options: RuleOptions | None = None) -> None:
        self.options = options if options is not None else self.Options()

    def feedback(self, net: NetShape, generator: torch.Generator) -> dict[str, Tensor]:
        """Return the tensors that the rule keeps for a run; every checkpoint saves them.

        The tensors are, for instance, random matrices, or the weights of auxiliary networks and the
        moments of their optimizer. All random numbers must come from `generator`.

        Args:
            net: the shapes of the network; its weights too if the rule sets `copies_weights`.
            generator: the source of all random numbers.
        """
        return {}

    def why_not(self, net: NetShape) -> str | None:
        """Return in one sentence why the rule cannot train such a network; None if it can.

        By default a rule can train every network that offers what its `needs` list.
        """
        for need in sorted(self.needs & net.refusals.keys()):
            return f"the rule {self.name} needs {need!r}, but {net.refusals[need]}"
        return None

    @abstractmethod
    def credit(self, context: Context) -> Credit:
        """Return one credit tensor for each block, and one for the embedding."""

    def learn(self, context: Context) -> Mapping[str, Tensor]:
        """Return the tensors of the feedback that this batch changes, with their new values.

        Only rules that learn their feedback define this method.
        The engine calls `learn` after `credit` on the same batch, so the credit of a batch never
        comes from feedback that has learned from this batch.
        """
        return {}

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...] | None:
        """Return the shape of the noise that `credit` and `learn` use; None means no noise."""
        return None

    def projected(self, context: Context) -> Tensor | None:
        """Return the tensor s if the credit of every block l is s·B_lᵀ; otherwise return None.

        B_l is the matrix of block l in `feedback["B"]`, and s has the shape (samples, columns of
        B_l). In a stream with positions B_l has a row for each feature, and s·B_lᵀ is copied to all
        positions; or B_l has a row for each entry of a sample's state. With s, the null calibration
        is much faster, since it need not compute the products.
        """
        return None
