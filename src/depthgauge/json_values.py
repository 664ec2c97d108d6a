"""Turn Python values into values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: dataclasses and models become objects, paths become texts.

    Infinities and NaN become the texts `Infinity`, `-Infinity` and `NaN`. Both `float` and pydantic
    read these texts back.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else _name(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping | BaseModel) or is_dataclass(value):
        return plain_object(value)
    return str(value) if isinstance(value, Path) else value


def plain_object(value: Any) -> dict[str, JsonValue]:
    """Return a mapping, a dataclass or a model as a JSON object."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    return {str(name): plain(item) for name, item in value.items()}


def _name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
