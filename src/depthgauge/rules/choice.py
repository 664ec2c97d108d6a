"""A rule as it is written on the command line, with everything that is chosen about it.

`dfa`, `dfa[normalise=batch,penalty=0.01]`, `path/to/my_rule.py:MyRule[width=8,wide_block]`: in the
brackets stand options of the rule, options of training, and at most one control.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from depthgauge.config import NetConfig, Recipe, RuleConfig, TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.errors import UserError
from depthgauge.registry import RULES
from depthgauge.rules.contract import Rule, RuleOptions


@dataclass(frozen=True)
class RuleChoice:
    """A rule class with validated options, ready to be put into a run's configuration.

    `text` is how the user wrote it. `source` tells rules of the same name apart (see
    `Kind.find`). `training` has the options of training that were given, `control` the control.
    """

    rule_class: type[Rule]
    options: RuleOptions
    text: str
    source: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    control: str | None = None

    @cached_property
    def label(self) -> str:
        """The rule's name, with what differs from the defaults in brackets."""
        given, default = self.options.model_dump(), self.rule_class.Options().model_dump()
        usual = {name: option.default for name, option in TrainingOptions.model_fields.items()}
        varied = [
            f"{name}={value}"
            for name, value in [*given.items(), *self.training.items()]
            if value != (default | usual)[name]
        ]
        varied += [self.control] if self.control else []
        return self.rule_class.name + (f"[{','.join(varied)}]" if varied else "")

    @property
    def config(self) -> RuleConfig:
        """The rule as it stands in a run's configuration."""
        return RuleConfig(
            name=self.rule_class.name,
            label=self.label,
            options=self.options.model_dump(mode="json"),
            source=self.source,
        )

    def build(self) -> Rule:
        """The rule itself."""
        return self.rule_class(self.options)

    def net(self, base: NetConfig) -> NetConfig:
        """The network it is trained on: the study's, or the control's."""
        return CONTROLS[self.control].net(base) if self.control else base

    def recipe(self, base: Recipe) -> Recipe:
        """The study's recipe with the options of training that were given."""
        changes = dict(self.training)
        if self.control:
            changes |= CONTROLS[self.control].training
        return base.model_copy(update=changes)


class _Parts(NamedTuple):
    """A rule's text, taken apart: options as texts by name, and words without a value."""

    reference: str
    options: dict[str, str]
    words: list[str]


def choose_rule(text: str) -> RuleChoice:
    """The rule that `text` names, with the options in its brackets."""
    parts = _take_apart(text)
    rule_class, source = RULES.find(parts.reference)
    own = {n: v for n, v in parts.options.items() if n not in TrainingOptions.model_fields}
    _check_names(rule_class, own)
    _check_words(rule_class, parts.words)
    given = {n: v for n, v in parts.options.items() if n not in own}
    training = _validated(TrainingOptions, given, rule_class)
    return RuleChoice(
        rule_class,
        _validated(rule_class.Options, own, rule_class),
        text,
        source,
        {n: getattr(training, n) for n in TrainingOptions.model_fields if n in given},
        parts.words[0] if parts.words else None,
    )


def with_options(text: str, *more: str) -> str:
    """The text of a rule with more in its brackets."""
    parts = _take_apart(text)
    inside = [f"{name}={value}" for name, value in parts.options.items()] + parts.words
    return f"{parts.reference}[{','.join([*inside, *more])}]" if [*inside, *more] else text


def option_names(rule_class: type[Rule]) -> list[str]:
    """The options of a rule that can be chosen."""
    own = rule_class.Options
    return [name for name in own.model_fields if name not in own.fixed]


def _take_apart(text: str) -> _Parts:
    match = re.fullmatch(r"(?P<reference>[^\[\]]+)(\[(?P<inside>[^\[\]]*)\])?", text.strip())
    if match is None:
        raise UserError(f"cannot read the rule {text!r}; write it as dfa or dfa[normalise=batch]")
    pairs = [part.partition("=") for part in (match["inside"] or "").split(",") if part.strip()]
    names = [name.strip() for name, _, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"the rule {text} is given an option twice: {', '.join(twice)}")
    options = {name.strip(): value.strip() for name, equals, value in pairs if equals}
    return _Parts(match["reference"], options, [name for name in names if name not in options])


def _check_names(rule_class: type[Rule], given: Mapping[str, str]) -> None:
    for name in given:
        if name not in option_names(rule_class):
            raise UserError(
                f"the rule {rule_class.name} has no option {name!r}; {_valid(rule_class)}"
            )


def _check_words(rule_class: type[Rule], words: list[str]) -> None:
    for word in words:
        if word not in CONTROLS:
            needs_value = word in {*option_names(rule_class), *TrainingOptions.model_fields}
            raise UserError(
                f"the option {word!r} needs a value, as in {word}=…"
                if needs_value
                else f"there is no control {word!r}; {_valid(rule_class)}"
            )
    if len(words) > 1:
        raise UserError(f"one control at a time, not {' and '.join(words)}")


def _valid(rule_class: type[Rule]) -> str:
    own = ", ".join(option_names(rule_class)) or "none"
    return (
        f"its options are: {own}; options of training: {', '.join(TrainingOptions.model_fields)}; "
        f"controls: {', '.join(CONTROLS)}"
    )


def _validated(model: type[Any], given: Mapping[str, str], rule_class: type[Rule]) -> Any:
    try:
        options: BaseModel = model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"option {name!r} of the rule {rule_class.name}: {first['msg']}; {_valid(rule_class)}"
        ) from error
    return options
