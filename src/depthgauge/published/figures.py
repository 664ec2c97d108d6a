"""The published figures: the content of `figures.json`, typed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from depthgauge.gauges.identity import IdentityReading


class Figure(NamedTuple):
    """Mean and sample standard deviation (ddof 1) over three seeds."""

    mean: float
    std: float


class PublishedConfig(BaseModel):
    """The network of an experiment, and its number of epochs."""

    width: int
    blocks: int
    epochs: int


class PublishedLadder(BaseModel):
    """The published ladder of one network."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[int, Figure]] = Field(init=False)

    config: PublishedConfig

    @property
    def rules(self) -> dict[str, dict[int, Figure]]:
        """Return the accuracies by the rule's label and the number k of trained blocks."""
        return self.__pydantic_extra__


class PublishedRule(BaseModel):
    """The published results of one rule in an audit."""

    accuracy: Figure
    verdict: str | None = None
    gamma_layers_0_to_4: tuple[float, ...] | None = None
    gamma_per_block: tuple[float, ...] | None = None


class PublishedScale(BaseModel):
    """The published norms of one network's stream and gradients.

    The gradients are of the mean loss of a batch of 128.
    """

    h: tuple[float, ...] | None = None
    h_L: float | None = None  # noqa: N815 – as in the file
    g: tuple[float, ...] | None = None


class PublishedAudit(BaseModel):
    """The published figures of the main audit."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PublishedRule] = Field(init=False)

    config: PublishedConfig
    frozen: PublishedRule
    """The accuracy of DFA with frozen blocks."""
    scale: dict[str, PublishedScale] = Field(alias="scale_seed42_N128")
    """The norms of seed 42, by label."""
    stability: dict[str, float] = Field(alias="stability_seed42")
    """D2s of seed 42, by label."""
    healthy_vs_degenerate: dict[str, str]

    @property
    def rules(self) -> dict[str, PublishedRule]:
        """Return the rules by label."""
        return self.__pydantic_extra__


class ThirtyEpochs(BaseModel):
    """The published figures of thirty epochs, without a penalty and with a penalty of 0.01."""

    config: PublishedConfig
    bp: Figure
    dfa: Figure
    state_bridge: float
    """The accuracy of State Bridge with one seed."""
    penalised: dict[str, Figure] = Field(alias="penalised_lambda_0.01")
    """The accuracies with a penalty, by rule."""
    deep_cos: dict[str, Figure] = Field(alias="deep_cos_lambda_0.01")
    """Γ of the penalised rules, mean over the blocks."""
    deep_rho: dict[str, Figure] = Field(alias="deep_rho_lambda_0.01")
    """ρ of the penalised rules, mean over the blocks."""


class NullCalibration(BaseModel):
    """The published alignment Γ of DFA with a penalty, with its training feedback, for seed 42."""

    layers: tuple[float, ...] = Field(alias="training_B_layers_0_to_4")
    deep: float = Field(alias="training_B_deep")


class InitIdentity(BaseModel):
    """The published distances of untrained networks from the identity, by seed."""

    per_seed: dict[int, IdentityReading]


class Ladders(BaseModel):
    """The published ladders, and the published cost of training them."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PublishedLadder] = Field(init=False)

    cost: str

    @property
    def networks(self) -> dict[str, PublishedLadder]:
        """Return the ladders by network."""
        return self.__pydantic_extra__


class PublishedFigures(BaseModel):
    """All published figures."""

    init_identity: InitIdentity
    ladder: Ladders
    main_audit: PublishedAudit
    thirty_epochs: ThirtyEpochs
    null_calibration: NullCalibration


@cache
def published() -> PublishedFigures:
    """Return all published figures."""
    text = files("depthgauge.published").joinpath("figures.json").read_text(encoding="utf-8")
    return PublishedFigures.model_validate_json(text)
