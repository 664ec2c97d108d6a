"""A part of a run's configuration: checked, unchangeable, and written the same way every time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer
from typing_extensions import Self

_TEXTS: dict[tuple[type, str], str] = {}
"""The cache of `as_text`, by class and values of the fields."""


class ConfigPart(BaseModel):
    """A part of a run's configuration.

    `added` lists the fields that later versions of the class added. Such a field is written only
    if it differs from its default, so that the identity of earlier runs does not change.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    added: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_added_defaults(
        self, serialise: SerializerFunctionWrapHandler
    ) -> dict[str, object]:
        written: dict[str, object] = serialise(self)
        fields = type(self).model_fields
        unchanged = {name for name in self.added if getattr(self, name) == fields[name].default}
        return {name: value for name, value in written.items() if name not in unchanged}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a validated copy with changes; cached values are not copied."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**own | dict(update or {}))

    @cached_property
    def as_text(self) -> str:
        """The configuration as JSON with sorted keys and no spaces.

        Many runs share the same parts, so the text of each part is made once.
        """
        fields = (type(self), repr(self.__dict__))
        if fields not in _TEXTS:
            written = self.model_dump(mode="json")
            _TEXTS[fields] = json.dumps(written, sort_keys=True, separators=(",", ":"))
        return _TEXTS[fields]
