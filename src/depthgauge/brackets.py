"""Parse a name with options in brackets, such as `vit[patch=4]`, and describe such options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from pydantic import BaseModel


class OptionDescription(TypedDict):
    """An option or control that brackets may hold; a control has no default."""

    name: str
    default: object
    description: str


def describe_options(model: type[BaseModel], names: Iterable[str]) -> list[OptionDescription]:
    """Describe the options `names` of a pydantic model."""
    fields = {name: model.model_fields[name] for name in names}
    return [
        {
            "name": name,
            "default": field.get_default(call_default_factory=True),
            "description": field.description or "",
        }
        for name, field in fields.items()
    ]


class Bracketed(NamedTuple):
    """The parts of a text with brackets.

    Attributes:
        reference: the text before the brackets.
        options: the texts of options with a value, by name.
        words: the words without a value.
    """

    reference: str
    options: dict[str, str]
    words: list[str]

    def __str__(self) -> str:
        inside = [*(f"{name}={value}" for name, value in self.options.items()), *self.words]
        return f"{self.reference}[{','.join(inside)}]" if inside else self.reference


def parse_brackets(text: str, noun: str, example: str) -> Bracketed:
    """Split a text into its parts; refuse bad syntax and repeated options.

    Args:
        text: the text.
        noun: the word for what it names, for messages.
        example: a text with right syntax, for messages.
    """
    match = re.fullmatch(r"(?P<reference>[^\[\]]+)(\[(?P<inside>[^\[\]]*)\])?", text.strip())
    if match is None:
        raise UserError(f"cannot read the {noun} {text!r}; write it as {example}")
    pairs = [part.partition("=") for part in (match["inside"] or "").split(",") if part.strip()]
    names = [name.strip() for name, _, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"the {noun} {text} has an option twice: {', '.join(twice)}; give it once")
    options = {name.strip(): value.strip() for name, equals, value in pairs if equals}
    return Bracketed(match["reference"], options, [name for name in names if name not in options])
