"""Options of commands: those made from the fields of `StudyConfig`, and types of numbers."""

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
"""Defaults that a help text does not show."""

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
"""How a help text calls the values of these options; others are called by the option's name."""


def add_study_options(
    parser: argparse.ArgumentParser,
    *,
    only: Collection[str] = StudyConfig.model_fields.keys(),
    without: Collection[str] = (),
    instead: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Add an option for every field of a study, or `only` for some, or `without` some.

    `instead` replaces settings that argparse gets for a field, by the field's name.
    """
    names = [name for name in StudyConfig.model_fields if name in only and name not in without]
    parser.set_defaults(study_options=names)
    for name in names:
        settings = _settings(name, StudyConfig.model_fields[name]) | dict(
            (instead or {}).get(name, {})
        )
        parser.add_argument(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS, **settings)


def _settings(name: str, field: FieldInfo) -> dict[str, Any]:
    """Return what argparse needs for a field; values stay texts, which `StudyConfig` reads."""
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
    """Return the type of a field that may also be None."""
    parts = [part for part in get_args(annotation) if part is not NoneType]
    is_optional = NoneType in get_args(annotation)
    return parts[0] if is_optional and len(parts) == 1 else annotation


def config_of(args: argparse.Namespace) -> StudyConfig:
    """Return the study that was typed, without the command's own options."""
    typed = {name: value for name, value in vars(args).items() if name in args.study_options}
    return study_config(typed)


def whole(minimum: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `minimum` on."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = minimum - 1
        if number < minimum:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {minimum} on")
        return number

    return parse


def share(lowest: float) -> Callable[[str], float]:
    """Return a parser of shares from `lowest` to 1."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not lowest <= value <= 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not a share from {lowest:g} to 1")
        return value

    return parse
