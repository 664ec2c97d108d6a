"""Published figures that come with the package: `figures.json`, typed."""

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
    """What an experiment was run with."""

    width: int
    blocks: int
    epochs: int


class PublishedLadder(BaseModel):
    """The ladder of one network."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[int, Figure]] = Field(init=False)

    config: PublishedConfig

    @property
    def rules(self) -> dict[str, dict[int, Figure]]:
        """Accuracies by label and k."""
        return self.__pydantic_extra__


class PublishedRule(BaseModel):
    """What an audit says of one rule."""

    accuracy: Figure
    verdict: str | None = None
    gamma_layers_0_to_4: tuple[float, ...] | None = None
    gamma_per_block: tuple[float, ...] | None = None


class PublishedScale(BaseModel):
    """Norms of one network, of gradients for the mean loss of a batch of 128."""

    h: tuple[float, ...] | None = None
    h_L: float | None = None  # noqa: N815 – as in the file
    g: tuple[float, ...] | None = None


class PublishedAudit(BaseModel):
    """The main audit."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PublishedRule] = Field(init=False)

    config: PublishedConfig
    frozen: PublishedRule
    """DFA with frozen blocks."""
    scale: dict[str, PublishedScale] = Field(alias="scale_seed42_N128")
    """By label, of seed 42."""
    stability: dict[str, float] = Field(alias="stability_seed42")
    """By label, of seed 42."""
    healthy_vs_degenerate: dict[str, str]

    @property
    def rules(self) -> dict[str, PublishedRule]:
        """The rules by label."""
        return self.__pydantic_extra__


class ThirtyEpochs(BaseModel):
    """The runs of thirty epochs, plain and with a penalty of 0.01."""

    config: PublishedConfig
    bp: Figure
    dfa: Figure
    state_bridge: float
    """Of one seed."""
    penalised: dict[str, Figure] = Field(alias="penalised_lambda_0.01")
    """Accuracies by rule."""
    deep_cos: dict[str, Figure] = Field(alias="deep_cos_lambda_0.01")
    """Γ of the penalised rules, mean over the blocks."""
    deep_rho: dict[str, Figure] = Field(alias="deep_rho_lambda_0.01")
    """ρ of the penalised rules, mean over the blocks."""


class NullCalibration(BaseModel):
    """Γ of the penalised DFA, seed 42, with its training feedback."""

    layers: tuple[float, ...] = Field(alias="training_B_layers_0_to_4")
    deep: float = Field(alias="training_B_deep")


class InitIdentity(BaseModel):
    """How close untrained networks are to the identity, by seed."""

    per_seed: dict[int, IdentityReading]


class Ladders(BaseModel):
    """The ladders, and what they cost."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PublishedLadder] = Field(init=False)

    cost: str

    @property
    def networks(self) -> dict[str, PublishedLadder]:
        """The ladders by network."""
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
