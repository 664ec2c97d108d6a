"""The contract of a learning rule: a rule turns one network's forward pass into credit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from depthgauge.nets.contract import ResidualNet

Need = Literal["error", "readout", "blocks", "gradient"]
Normalise = Literal["sample", "batch", "none"]


@dataclass(frozen=True)
class Credit:
    """A rule's estimates of the gradients of each sample's own loss.

    Attributes:
        blocks: for each block l an estimate of g_{l+1}, the gradient at the block's output.
        embed: an estimate of g_0, the gradient at the embedding's output.

    Every tensor has the shape (samples, d). The number d is the width of the network.
    """

    blocks: Sequence[Tensor]
    embed: Tensor


class Context:
    """What a rule may see of one network on one batch; all tensors are detached.

    Attributes:
        states: the stream h_0 after the embedding, and h_1 … h_L after each of the L blocks. Each
            state has the shape (samples, d), with d the width.
        target: the labels, of the shape (samples,).
        feedback: the tensors that the rule's `feedback` returned for this run, with all changes
            that `learn` has made to them since then.
        progress: the fraction of training that is over, in [0, 1); 1 when a trained network is
            measured.
        residual: whether blocks add a branch to the stream; if not, they replace the stream.

    Only for a rule that has a `noise_shape`:
        noise: standard normal numbers of the shape `noise_shape`, drawn for every batch. They
            depend on the run's seed and the batch alone.

    Only for a rule that lists them in `needs`:
        error: softmax(logits) − onehot(target) of each sample.
        readout: a function from the last state h_L to the logits.
        blocks: for each block, a function from its input to its output. The output is called the
            branch of the block.
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
    ) -> None:
        self.states = tuple(states)
        self.target = target
        self.feedback = feedback
        self.progress = progress
        self._offers = offers
        self._noise = noise
        self.residual = residual

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
        """The error e = softmax(logits) − onehot(target), of the shape (samples, classes)."""
        return self._declared("error")  # type: ignore[return-value]

    @property
    def readout(self) -> Callable[[Tensor], Tensor]:
        """The function from the last state h_L to the logits: out_ln, then out_head."""
        return self._declared("readout")  # type: ignore[return-value]

    @property
    def blocks(self) -> Sequence[Callable[[Tensor], Tensor]]:
        """For each block l, the function from its input h_l to its branch f_l."""
        return self._declared("blocks")  # type: ignore[return-value]

    @property
    def gradient(self) -> Sequence[Tensor]:
        """The true gradients g_0 … g_L of each sample's own loss at the states h_0 … h_L."""
        return self._declared("gradient")  # type: ignore[return-value]


class RuleOptions(BaseModel):
    """Options of a rule: validated, documented, and part of a run's identity.

    Options in `fixed` are part of a run's configuration, but users cannot choose them. Credit is
    applied as the rule returns it, unless a normalisation is chosen or is the rule's default
    (`NormalisedOptions`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
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
    """Options of a rule whose credit is normalised by default.

    By default, the credit of each sample is divided by its RMS over features.
    """

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

    def feedback(self, net: ResidualNet, generator: torch.Generator) -> dict[str, Tensor]:
        """Return the tensors that the rule keeps for a run; every checkpoint saves them.

        The tensors are, for instance, random matrices, or the weights of auxiliary networks and the
        moments of their optimizer. All random numbers must come from `generator`.
        """
        return {}

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
        B_l). With s, the null calibration is much faster, since it need not compute the products.
        """
        return None
