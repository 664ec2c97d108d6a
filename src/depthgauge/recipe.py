"""How a run is trained: its loss, optimizer, learning rates and schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from depthgauge.config_part import ConfigPart

Precision = Literal["float32", "float64", "bf16"]
"""The precision of training. bf16: matrices are multiplied in bfloat16, the rest is float32."""

OptimizerName = Literal["adamw", "adam", "sgd"]
Schedule = Literal["cosine", "none", "steps"]
Whole = Annotated[int, Field(ge=1)]
Decay = Annotated[float, Field(ge=0, lt=1)]
Factor = Annotated[float, Field(gt=0, allow_inf_nan=False)]

FIELDS_OF: Mapping[str, Mapping[str, frozenset[str]]] = {
    "optimizer": {
        "adamw": frozenset({"beta1", "beta2"}),
        "adam": frozenset({"beta1", "beta2"}),
        "sgd": frozenset({"momentum", "nesterov"}),
    },
    "schedule": {
        "cosine": frozenset(),
        "none": frozenset(),
        "steps": frozenset({"milestones", "step_factor"}),
    },
}
"""The fields that only some optimizers and schedules have."""


def _some_epochs(given: Any) -> Any:
    """Split a text such as `30+60`, as it is written in the brackets of a rule."""
    return tuple(given.split("+")) if isinstance(given, str) else given


class TrainingOptions(ConfigPart):
    """The part of a recipe that may differ between the rules of one study."""

    learning_rate: float = Field(
        default=1e-3, gt=0, allow_inf_nan=False, description="learning rate at the start"
    )
    weight_decay: float = Field(
        default=0.01,
        ge=0,
        allow_inf_nan=False,
        description="weight decay: of adamw beside the gradient, of adam and sgd part of it",
    )
    penalty: float = Field(
        default=0.0,
        ge=0,
        allow_inf_nan=False,
        description="λ: adds λ times the mean over samples of Σ f_l² to each block's loss",
    )
    optimizer: OptimizerName = Field(default="adamw", description="the optimizer of every part")
    beta1: Decay = Field(default=0.9, description="adamw and adam: decay of the mean gradient")
    beta2: Decay = Field(default=0.999, description="adamw and adam: decay of the mean square")
    momentum: Decay = Field(default=0.9, description="sgd: share of the last step that is kept")
    nesterov: bool = Field(default=False, description="sgd: Nesterov's form of momentum")
    schedule: Schedule = Field(
        default="cosine",
        description="learning rate after each epoch: half a cosine to zero, constant, or in steps",
    )
    milestones: Annotated[tuple[Whole, ...], BeforeValidator(_some_epochs)] = Field(
        default=(), description="schedule steps: the epochs after which the rate falls"
    )
    step_factor: Factor = Field(
        default=0.1, description="schedule steps: the rate is multiplied by this at each milestone"
    )
    embedding_rate: Factor = Field(
        default=1.0, description="learning rate of the embedding, as a multiple of the rate"
    )
    blocks_rate: Factor = Field(
        default=1.0, description="learning rate of the blocks, as a multiple of the rate"
    )
    readout_rate: Factor = Field(
        default=1.0, description="learning rate of the readout, as a multiple of the rate"
    )
    added = frozenset(
        {
            *("penalty", "optimizer", "beta1", "beta2", "momentum", "nesterov", "schedule"),
            *("milestones", "step_factor", "embedding_rate", "blocks_rate", "readout_rate"),
        }
    )


class Recipe(TrainingOptions):
    """How a run is trained; by default with AdamW and a cosine schedule to zero, once per epoch.

    Fields that the optimizer or the schedule does not have are kept at their defaults, so that a
    run's identity does not depend on them. With `targets="random"`, every batch gets new labels,
    drawn uniformly from the classes.

    Attributes:
        loss: the name of the loss; of a user's file the class and the file's hash.
        score: the word for what `accuracy` holds in the run's files: accuracy, or R².
    """

    epochs: int = Field(default=100, ge=1)
    batch_size: int = Field(default=128, ge=1)
    dtype: Precision = "float32"
    targets: Literal["true", "random"] = "true"
    loss: str = "cross_entropy"
    score: str = "accuracy"
    added = TrainingOptions.added | {"targets", "loss", "score"}

    @model_validator(mode="before")
    @classmethod
    def _without_unused(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: value for name, value in given.items() if name not in unused_fields(given)}

    @model_validator(mode="after")
    def _steps_have_milestones(self) -> Recipe:
        if self.schedule == "steps" and not self.milestones:
            raise ValueError("the schedule steps needs milestones, such as 30 and 60")
        return self


def unused_fields(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the given options without effect, and for each the choice that has no such option."""
    unused: dict[str, str] = {}
    for choice, fields_of in FIELDS_OF.items():
        chosen = given.get(choice, TrainingOptions.model_fields[choice].default)
        own = fields_of.get(str(chosen), frozenset())
        others = frozenset[str]().union(*fields_of.values()) - own
        unused |= dict.fromkeys(sorted(others & given.keys()), f"the {choice} {chosen}")
    if "nesterov" in given and str(given.get("momentum")) in ("0", "0.0"):
        unused.setdefault("nesterov", "sgd without momentum")
    return unused


def first_reason(error: ValidationError) -> str:
    """Return in words why a recipe is not possible, from pydantic's first complaint."""
    return str(error.errors()[0]["msg"]).removeprefix("Value error, ")


def text_of_option(value: object) -> str:
    """Return an option's value as it is written in the brackets of a rule."""
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
