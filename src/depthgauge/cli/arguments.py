"""Make command-line options from the fields of `StudyConfig`, and check numbers in options."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from depthgauge.study_config import StudyConfig, study_config
from depthgauge.verdict.thresholds import Thresholds

UNSHOWN: tuple[Any, ...] = (None, [], {}, False, True)
"""The defaults that help texts do not show."""

METAVARS = {
    "vary": "NAME=V1,V2,…",
    "thresholds": "NAME=VALUE",
    "frozen_acc": "LABEL=SHARE",
    "checkpoints": "DIR",
    "blocks": "PATH",
    "out": "DIR",
    "save_every": "SECONDS",
    "validation": "N",
    "cohort": "N",
}
"""The words for the values of options in help texts; by default, the option's name in capitals."""


def add_study_options(
    parser: argparse.ArgumentParser,
    *,
    only: Collection[str] = StudyConfig.model_fields.keys(),
    without: Collection[str] = (),
    instead: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Add a command-line option for each field of `StudyConfig`.

    Args:
        parser: the parser of a command.
        only: the fields that get an option.
        without: the fields that get no option.
        instead: by the field's name, arguments for argparse that replace the usual arguments.
    """
    names = [name for name in StudyConfig.model_fields if name in only and name not in without]
    parser.set_defaults(study_options=names)
    for name in names:
        settings = _settings(name, StudyConfig.model_fields[name]) | dict(
            (instead or {}).get(name, {})
        )
        parser.add_argument(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS, **settings)


def _settings(name: str, field: FieldInfo) -> dict[str, Any]:
    """Return argparse's arguments for a field; values stay texts, which `StudyConfig` parses."""
    help_text, default = field.description or "", field.default
    if name == "thresholds":
        help_text += f"; {', '.join(Thresholds())}"
    if default not in UNSHOWN:
        shown = " ".join(map(str, default)) if isinstance(default, list) else default
        help_text += f" ({shown})"
    settings: dict[str, Any] = {"help": help_text.replace("%", "%%")}
    kind = _type_without_none(field.annotation)
    if kind is bool:
        action = argparse.BooleanOptionalAction if default else "store_true"
        return settings | {"action": action}
    if get_origin(kind) is Literal:
        return settings | {"choices": get_args(kind)}
    if get_origin(kind) in (list, dict):
        return settings | {"nargs": "+", "metavar": METAVARS.get(name, name.upper().rstrip("S"))}
    return settings | {"metavar": METAVARS.get(name, name.upper())}


def _type_without_none(annotation: Any) -> Any:
    """Return the type of a field; if the field may also be None, return the other type."""
    parts = [part for part in get_args(annotation) if part is not NoneType]
    is_optional = NoneType in get_args(annotation)
    return parts[0] if is_optional and len(parts) == 1 else annotation


def config_of(args: argparse.Namespace) -> StudyConfig:
    """Return the study options that the user typed, as a `StudyConfig`.

    Options that only the command knows are left out.
    """
    typed = {name: value for name, value in vars(args).items() if name in args.study_options}
    return study_config(typed)


def whole(minimum: int) -> Callable[[str], int]:
    """Return a function that parses a text as a whole number of at least `minimum`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = minimum - 1
        if number < minimum:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not possible; give a whole number of at least {minimum}"
            )
        return number

    return parse


def share(lowest: float) -> Callable[[str], float]:
    """Return a function that parses a text as a number between `lowest` and 1."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not lowest <= value <= 1:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not possible; give a number from {lowest:g} to 1"
            )
        return value

    return parse
