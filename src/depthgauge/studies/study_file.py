"""A study written as one TOML or YAML file: the options of `audit` or `ladder` by their names."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from depthgauge.defaults import DEFAULT_RULES
from depthgauge.errors import UserError
from depthgauge.nets.registry import find_net
from depthgauge.rules.choice import choose_rule
from depthgauge.studies.vary import check_variations, with_controls
from depthgauge.tasks.registry import find_task
from depthgauge.verdict.thresholds import Thresholds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUFFIXES = (".toml", ".yaml", ".yml")


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


def _check_thresholds(given: dict[str, float]) -> None:
    known = [field.name for field in fields(Thresholds)]
    for name in given:
        if name not in known:
            raise UserError(f"there is no threshold {name!r}; there are: {', '.join(known)}")
    Thresholds(**given)


Whole = Annotated[int, Field(ge=1)]
Some = Field(min_length=1)
ONLY_OF = {"k": "ladder", "select": "audit", "threshold": "audit", "strict": "audit"}
"""Options that one command has alone."""


class StudySpec(BaseModel):
    """A study file. Everything but `command` is an option of that command, with its default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    command: Literal["audit", "ladder"] = Field(description="what is done with the runs")
    task: Annotated[str, _checked(find_task)] | None = Field(None, description="name, or .npz")
    net: Annotated[str, _checked(find_net)] | None = None
    width: Whole | None = Field(None, description="width of the stream")
    blocks: Annotated[int, Field(ge=0)] | None = Field(None, description="number of blocks L")
    rules: Annotated[list[str], Some, _checked(_check_rules)] | None = None
    vary: Annotated[dict[str, Annotated[list[str | int | float], Some]], Some] | None = Field(
        None, description="values of options, every combination of which is trained"
    )
    controls: Annotated[list[str], Some, _checked(_check_controls)] | None = None
    k: Annotated[list[Annotated[int, Field(ge=0)]], Some] | None = Field(
        None, description="how many of the last blocks are trained; with command = ladder"
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], Some] | None = None
    epochs: Whole | None = None
    batch_size: Whole | None = None
    dtype: Literal["float32", "float64"] | None = None
    validation: Annotated[int, Field(ge=0)] | None = Field(
        None, description="training samples to hold out and judge on"
    )
    select: Literal["validation"] | None = None
    threshold: Annotated[dict[str, float], Some, _checked(_check_thresholds)] | None = None
    strict: bool | None = None
    out: str | None = Field(None, description="folder of the study")
    executor: Literal["local", "ray", "slurm"] | None = None
    submit: bool | None = None
    address: str | None = Field(None, description="of the Ray cluster")
    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] | None = None
    threads: Whole | None = None
    save_every: Annotated[float, Field(ge=0)] | None = None

    @field_validator(*ONLY_OF, "blocks", "vary")
    @classmethod
    def _fits_the_others(cls, value: Any, info: ValidationInfo) -> Any:
        """What depends on the command, or on the rules."""
        command, rules = info.data.get("command"), info.data.get("rules") or DEFAULT_RULES
        name = str(info.field_name)
        if value is not None and command not in (None, ONLY_OF.get(name, command)):
            raise ValueError(f"goes with command = {ONLY_OF[name]!r}")
        if name == "blocks" and command == "audit" and value == 0:
            raise ValueError("an audit needs at least one block")
        if name == "vary" and value is not None:
            try:
                check_variations(rules, [f"{n}={','.join(_texts(v))}" for n, v in value.items()])
            except UserError as error:
                raise ValueError(str(error)) from error
        return value

    def arguments(self) -> list[str]:
        """As it would be typed."""
        arguments: list[str] = [self.command]
        for name, value in self.model_dump(exclude_none=True, exclude={"command"}).items():
            if value is not False:
                arguments += [f"--{name.replace('_', '-')}", *_texts(value)]
        return arguments


def _texts(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, list):
        return [str(one) for one in value]
    if isinstance(value, dict):
        return [f"{name}={','.join(_texts(given))}" for name, given in value.items()]
    return [str(value)]


def read_study_file(path: Path) -> StudySpec:
    """The study in a file; what is wrong is said with its line and field."""
    if path.suffix not in SUFFIXES:
        raise UserError(f"{path} must end in one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise UserError(f"there is no study file {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8: {error}") from error
    content, line_of = (_toml if path.suffix == ".toml" else _yaml)(path, text)
    try:
        return StudySpec.model_validate(content)
    except ValidationError as error:
        raise UserError(_sentence(path, error, line_of)) from error


def _sentence(path: Path, error: ValidationError, line_of: Callable[[str], int | None]) -> str:
    first = error.errors()[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    reason = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        reason = f"there is no such field; there are: {', '.join(StudySpec.model_fields)}"
    if first["type"] == "missing":
        return f"{path}: the field {field!r} is missing"
    line = line_of(field)
    place = f"{path}, line {line}" if line else str(path)
    return f"{place}, field {field!r}: {reason[0].lower()}{reason[1:]}"


def _toml(path: Path, text: str) -> tuple[Any, Callable[[str], int | None]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not TOML: {error}") from error

    def line_of(field: str) -> int | None:
        name = re.escape(field)
        starts = re.compile(rf"\s*(?:{name}|\"{name}\"|\[+\s*{name}\b.*)\s*(?:[=.\]]|$)")
        lines = enumerate(text.splitlines(), 1)
        return next((number for number, line in lines if starts.match(line)), None)

    return content, line_of


def _yaml(path: Path, text: str) -> tuple[Any, Callable[[str], int | None]]:
    try:
        content, node = yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(node, yaml.MappingNode):
        raise UserError(f"{path} must have fields, such as `command: audit`")
    lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}
    return content, lines.get
