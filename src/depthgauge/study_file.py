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
    """The content of a study file.

    Attributes:
        path: the file.
        command: the command in the file.
        config: the options in the file.
        line_of: returns the line of a field, or None if the field is not in the file.
    """

    path: Path
    command: Literal["audit", "ladder"]
    config: StudyConfig
    line_of: Callable[[str], int | None]

    @contextmanager
    def placed_errors(self) -> Iterator[None]:
        """Add file, line and field to an OptionError that is raised inside the `with` block."""
        try:
            yield
        except OptionError as error:
            raise _placed(self.path, self.line_of, error) from error


def read_study_file(path: Path) -> StudyFile:
    """Read a study file; an error about an option names the line and the field."""
    if path.suffix not in SUFFIXES:
        raise UserError(f"the name of the study file {path} must end in {' or '.join(SUFFIXES)}")
    if not path.is_file():
        raise UserError(f"there is no study file {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8: {error}; save it as UTF-8") from error
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
        raise OptionError("command", f"the value {command!r} is not known; choose audit or ladder")
    for name in AUDIT_ONLY & options.keys() if command == "ladder" else ():
        raise OptionError(
            name, "a ladder has no such option; set command to audit, or remove the field"
        )
    return command  # type: ignore[no-any-return]


def _placed(path: Path, line_of: Callable[[str], int | None], error: OptionError) -> UserError:
    line = line_of(error.option)
    place = f"{path}, line {line}" if line else str(path)
    return UserError(f"{place}, field {error.option!r}: {error}")


def study_file_schema() -> dict[str, Any]:
    """Return the JSON schema of study files: the options of a study, and the command."""
    schema = StudyConfig.model_json_schema()
    command = {"enum": ["audit", "ladder"], "description": "the command that trains the study"}
    schema["properties"] = {"command": command, **schema["properties"]}
    schema["required"] = ["command"]
    return schema | {
        "title": "StudyFile",
        "description": "A study. Every field except `command` is an option of that command.",
    }


def _toml(path: Path, text: str) -> tuple[Any, Callable[[str], int | None]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not TOML: {error}; correct the file") from error

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
        raise UserError(
            f"{path} is not YAML: {' '.join(str(error).split())}; correct the file"
        ) from error
    if not isinstance(node, yaml.MappingNode):
        raise UserError(f"{path} has no fields; write fields such as `command: audit`")
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.value in lines:
            raise UserError(
                f"{path}, line {line}: the field {key.value!r} is given twice; remove one of them"
            )
        lines[key.value] = line
    return content, lines.get
