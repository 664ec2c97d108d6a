"""A study written as one TOML or YAML file."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from depthgauge.errors import UserError
from depthgauge.studies.study_spec import StudySpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUFFIXES = (".toml", ".yaml", ".yml")


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
    given = first["input"]
    if len(first["loc"]) > 1 and isinstance(given, str | int | float):
        reason = f"{reason}, not {given!r}"
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
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.value in lines:
            raise UserError(f"{path}, line {line}, field {key.value!r}: stands there twice")
        lines[key.value] = line
    return content, lines.get
