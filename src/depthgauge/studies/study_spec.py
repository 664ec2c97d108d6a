"""What may stand in a study file: the options of `audit` or `ladder` by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from depthgauge.config import Engine, NetConfig, Precision
from depthgauge.defaults import DEFAULT_RULES
from depthgauge.errors import UserError
from depthgauge.registry import NETS
from depthgauge.rules.choice import choose_rule
from depthgauge.studies.vary import check_variations, with_controls
from depthgauge.tasks.registry import find_task
from depthgauge.verdict.thresholds import thresholds_from


def _checked(check: Callable[[Any], object]) -> AfterValidator:
    """A validator from a function that refuses with a sentence."""

    def validate(value: Any) -> Any:
        try:
            check(value)
        except UserError as error:
            raise ValueError(str(error)) from error
        return value

    return AfterValidator(validate)


def _check_rules(texts: list[str]) -> None:
    for text in texts:
        choose_rule(text)


def _check_controls(names: list[str]) -> None:
    with_controls([], names)


Whole = Annotated[int, Field(ge=1)]
Some = Field(min_length=1)
ONLY_OF = {"select": "audit", "threshold": "audit", "strict": "audit"}
"""Options that one command has alone."""


class StudySpec(BaseModel):
    """A study file. Everything but `command` is an option of that command, with its default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    command: Literal["audit", "ladder"] = Field(description="what is done with the runs")
    task: Annotated[str, _checked(find_task)] | None = Field(None, description="name, or .npz")
    net: Annotated[str, _checked(NETS.find)] | None = None
    width: Whole | None = Field(None, description="width of the stream")
    blocks: Annotated[int, Field(ge=0)] | None = Field(None, description="number of blocks L")
    rules: Annotated[list[str], Some, _checked(_check_rules)] | None = None
    vary: Annotated[dict[str, Annotated[list[str | int | float], Some]], Some] | None = Field(
        None, description="values of options, every combination of which is trained"
    )
    controls: Annotated[list[str], Some, _checked(_check_controls)] | None = None
    k: Annotated[list[Annotated[int, Field(ge=0)]], Some] | None = Field(
        None, description="how many of the last blocks are trained"
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Some] | None = None
    epochs: Whole | None = None
    batch_size: Whole | None = None
    dtype: Precision | None = None
    validation: Annotated[int, Field(ge=0)] | None = Field(
        None, description="training samples to hold out and judge on"
    )
    select: Literal["validation"] | None = None
    threshold: Annotated[dict[str, float], Some, _checked(thresholds_from)] | None = None
    strict: bool | None = None
    out: str | None = Field(None, description="folder of the study")
    executor: Literal["local", "ray", "slurm"] | None = None
    submit: bool | None = None
    address: str | None = Field(None, description="of the Ray cluster")
    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] | None = None
    threads: Whole | None = None
    cohort: Whole | None = Field(None, description="most runs that are trained together")
    engine: Engine | None = Field(None, description="many runs as one, or for reference one by one")
    save_every: Annotated[float, Field(ge=0)] | None = None

    @field_validator("rules", "k", "seeds")
    @classmethod
    def _names_nothing_twice(cls, value: list[Any] | None) -> list[Any] | None:
        twice = [one for one, count in Counter(value or []).items() if count > 1]
        if twice:
            raise ValueError(f"{twice[0]} stands there twice")
        return value

    @field_validator(*ONLY_OF, "k", "blocks", "vary", "submit", "address")
    @classmethod
    def _fits_the_others(cls, value: Any, info: ValidationInfo) -> Any:
        """What depends on the command, on the rules, or on the executor."""
        name, data = str(info.field_name), info.data
        wrong = None if value is None else _misfit(name, value, data)
        if wrong is not None:
            raise ValueError(wrong)
        return value

    def arguments(self) -> list[str]:
        """As it would be typed."""
        arguments: list[str] = [self.command]
        for name, value in self.model_dump(exclude_none=True, exclude={"command"}).items():
            if value is not False:
                arguments += [f"--{name.replace('_', '-')}", *_texts(value)]
        return arguments


def _misfit(name: str, value: Any, others: dict[str, Any]) -> str | None:
    """Why a field does not go with those before it; None if it does."""
    command, wanted = others.get("command"), ONLY_OF.get(name)
    if wanted and command not in (None, wanted):
        return f"goes with command = {wanted!r}"
    executor = {"submit": "slurm", "address": "ray"}.get(name)
    if executor and value is not False and others.get("executor") != executor:
        return f"goes with executor = {executor!r}"
    if name == "blocks" and command == "audit" and value == 0:
        return "an audit needs at least one block"
    blocks = NetConfig().blocks if others.get("blocks") is None else others["blocks"]
    if name == "k" and max(value) > blocks:
        return f"the network has {blocks} blocks, so k is from 0 to {blocks}"
    if name == "vary":
        given = [f"{option}={','.join(_texts(values))}" for option, values in value.items()]
        try:
            check_variations(others.get("rules") or DEFAULT_RULES, given)
        except UserError as error:
            return str(error)
    return None


def _texts(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, list):
        return [str(one) for one in value]
    if isinstance(value, dict):
        return [f"{name}={','.join(_texts(given))}" for name, given in value.items()]
    return [str(value)]
