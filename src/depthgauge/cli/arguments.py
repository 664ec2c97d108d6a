"""Options of a command, made from the fields of `StudyConfig`."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from depthgauge.study_config import StudyConfig, study_config
from depthgauge.verdict.thresholds import Thresholds

UNSET: tuple[Any, ...] = (None, [], {}, False, True)
"""Defaults that a help text does not show."""


def add_study_options(
    parser: argparse.ArgumentParser,
    *,
    without: Collection[str] = (),
    instead: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Add an option for every field of a study, but for some.

    What argparse is told of a field is replaced by what `instead` has under the field's name.
    """
    parser.set_defaults(study_options=StudyConfig.model_fields.keys() - without)
    for name, field in StudyConfig.model_fields.items():
        if name not in without:
            option = f"--{name.replace('_', '-')}"
            settings = _settings(name, field) | dict((instead or {}).get(name, {}))
            parser.add_argument(option, default=argparse.SUPPRESS, **settings)


def _settings(name: str, field: FieldInfo) -> dict[str, Any]:
    """How argparse takes a field: values stay texts, which the study's own types read."""
    help_text, default = field.description or "", field.default
    if name == "thresholds":
        help_text += f"; {', '.join(Thresholds())}"
    if default not in UNSET:
        shown = " ".join(map(str, default)) if isinstance(default, list) else default
        help_text += f" ({shown})"
    settings: dict[str, Any] = {"help": help_text.replace("%", "%%")}
    kind = _kind(field.annotation)
    if kind is bool:
        action = argparse.BooleanOptionalAction if default else "store_true"
        return settings | {"action": action}
    if get_origin(kind) is Literal:
        return settings | {"choices": get_args(kind)}
    if get_origin(kind) in (list, dict):
        return settings | {"nargs": "+", "metavar": METAVARS.get(name, name.upper().rstrip("S"))}
    return settings | {"metavar": METAVARS.get(name, name.upper())}


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


def _kind(annotation: Any) -> Any:
    """The type of a field, without None."""
    parts = [part for part in get_args(annotation) if part is not NoneType]
    is_optional = NoneType in get_args(annotation)
    return parts[0] if is_optional and len(parts) == 1 else annotation


def config_of(args: argparse.Namespace) -> StudyConfig:
    """Return the study that was typed; a command's own options are none of a study's."""
    typed = {name: value for name, value in vars(args).items() if name in args.study_options}
    return study_config(typed)
