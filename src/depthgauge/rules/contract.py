"""What a learning rule is: it turns a forward trace into credit, for one network and one batch."""

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
    """`blocks[l]` estimates g_{l+1}, the gradient at block l's output; `embed` estimates g_0.

    Every tensor is (samples, d), for each sample's own loss.
    """

    blocks: Sequence[Tensor]
    embed: Tensor


class Context:
    """What a rule may see of one network on one batch; everything is detached.

    Attributes:
        states: h_0 … h_L, each (samples, d).
        target: the labels, (samples,).
        feedback: what the rule's `feedback` returned for this run.
        progress: fraction of training that is over, in [0, 1); 1 when a trained network is read.
        residual: whether the network adds a branch to the stream; else it replaces the stream.

    Where the rule has a `noise_shape`:
        noise: standard normal numbers of that shape, other ones for every batch. They depend on the
            run's seed and the batch alone.

    What the rule lists in `needs` is there too:
        error: softmax(logits) − onehot(target), per sample.
        readout: a function from h_L to logits.
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
            raise LookupError(f"the rule uses {need!r} but does not list it in its `needs`")
        return self._offers[need]

    @property
    def noise(self) -> Tensor:
        """The run's own noise for this batch."""
        if self._noise is None:
            raise LookupError("the rule uses noise but does not say how much in `noise_shape`")
        return self._noise

    @property
    def error(self) -> Tensor:
        """The error e = softmax(logits) − onehot(target), (samples, classes)."""
        return self._declared("error")  # type: ignore[return-value]

    @property
    def readout(self) -> Callable[[Tensor], Tensor]:
        """out_head ∘ out_ln."""
        return self._declared("readout")  # type: ignore[return-value]

    @property
    def blocks(self) -> Sequence[Callable[[Tensor], Tensor]]:
        """The block functions h_l ↦ f_l."""
        return self._declared("blocks")  # type: ignore[return-value]

    @property
    def gradient(self) -> Sequence[Tensor]:
        """g_0 … g_L."""
        return self._declared("gradient")  # type: ignore[return-value]


class RuleOptions(BaseModel):
    """Options of a rule: validated, documented, and part of a run's identity.

    Those in `fixed` are written down with a run but cannot be chosen. Credit is applied as the rule
    returns it, unless the rule declares a normalisation (`NormalisedOptions`) or one is chosen.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    fixed: ClassVar[frozenset[str]] = frozenset()

    normalise: Normalise = Field(
        default="none",
        description="divide the credit by its RMS over: each sample, the batch, or not",
    )
    epsilon: float = Field(
        default=1e-6, ge=0, allow_inf_nan=False, description="added to that RMS before dividing"
    )


class NormalisedOptions(RuleOptions):
    """Options of a rule that declares: each sample's credit is divided by its RMS over features."""

    normalise: Normalise = Field(
        default="sample", description=RuleOptions.model_fields["normalise"].description
    )


class Rule(ABC):
    """A learning rule, written for one network and one batch.

    The engine lifts it over many networks with `torch.func.vmap`; a rule that cannot be lifted
    (it uses `.item()`, or a step count that depends on the data) sets `batched = False`. A rule
    whose `feedback` is made from the network's weights sets `copies_weights = True`.
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
        """The tensors this rule keeps for a run: saved with every checkpoint.

        Random matrices, the weights of auxiliary networks, their optimizer's moments. Everything
        random comes from `generator`.
        """
        return {}

    @abstractmethod
    def credit(self, context: Context) -> Credit:
        """One credit tensor for each block, and one for the embedding."""

    def learn(self, context: Context) -> Mapping[str, Tensor]:
        """What of the feedback is different after this batch, for rules that train networks.

        It is called after `credit`, on the same batch, so the credit of a batch never comes from
        networks that have learned from it.
        """
        return {}

    def noise_shape(self, states: Sequence[Tensor]) -> tuple[int, ...] | None:
        """How much noise `credit` and `learn` want for a batch with these states, if any."""
        return None

    def projected(self, context: Context) -> Tensor | None:
        """The source s, (samples, c), of a rule whose credit is s·B_lᵀ, with `feedback["B"]`.

        A rule that says so is calibrated against fresh feedback without forming the projections.
        """
        return None
