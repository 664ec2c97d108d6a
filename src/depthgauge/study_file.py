"""Study files: read a study from a TOML or YAML file."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from depthgauge.errors import OptionError, UserError
from depthgauge.study_config import AUDIT_ONLY, StudyConfig, study_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUFFIXES = (".toml", ".yaml", ".yml")


@dataclass(frozen=True)
class StudyFile:
    """A study that was read from a file, the command it is for, and the lines of its fields."""

    path: Path
    command: Literal["audit", "ladder"]
    config: StudyConfig
    line_of: Callable[[str], int | None]

    @contextmanager
    def placed_errors(self) -> Iterator[None]:
        """Add the file, line and field to an error about an option that is raised inside."""
        try:
            yield
        except OptionError as error:
            raise _placed(self.path, self.line_of, error) from error


def read_study_file(path: Path) -> StudyFile:
    """Read the study in a file; an error names the line and the field."""
    if path.suffix not in SUFFIXES:
        raise UserError(f"{path} must end in one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise UserError(f"there is no study file {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8: {error}") from error
    content, line_of = (_toml if path.suffix == ".toml" else _yaml)(path, text)
    options = {str(name): value for name, value in content.items()}
    command = options.pop("command", None)
    try:
        return StudyFile(path, _command(command, options), study_config(options), line_of)
    except OptionError as error:
        raise _placed(path, line_of, error) from error


def _command(command: Any, options: Mapping[str, Any]) -> Literal["audit", "ladder"]:
    if command is None:
        raise OptionError("command", "the field is missing; choose audit or ladder")
    if command not in ("audit", "ladder"):
        raise OptionError("command", f"{command!r} is not possible; choose audit or ladder")
    for name in AUDIT_ONLY & options.keys() if command == "ladder" else ():
        raise OptionError(name, "goes with command = 'audit'")
    return command  # type: ignore[no-any-return]


def _placed(path: Path, line_of: Callable[[str], int | None], error: OptionError) -> UserError:
    line = line_of(error.option)
    place = f"{path}, line {line}" if line else str(path)
    return UserError(f"{place}, field {error.option!r}: {error}")


def study_file_schema() -> dict[str, Any]:
    """Return the JSON schema of study files: the options of a study, and the command."""
    schema = StudyConfig.model_json_schema()
    command = {"enum": ["audit", "ladder"], "description": "what is done with the runs"}
    schema["properties"] = {"command": command, **schema["properties"]}
    schema["required"] = ["command"]
    return schema | {"title": "StudyFile", "description": "A study. All but `command` are options."}


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
            raise UserError(f"{path}, line {line}, field {key.value!r}: is given twice")
        lines[key.value] = line
    return content, lines.get
