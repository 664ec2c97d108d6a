"""Parse a rule as users write it: its name and, in brackets, its options.

Examples: `dfa`, `dfa[normalise=batch,penalty=0.01]`, `my_rule.py:MyRule[width=8,wide_block]`. The
brackets hold options of the rule, options of training, and at most one control.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from depthgauge.brackets import Bracketed, parse_brackets
from depthgauge.config import NetConfig, Recipe, RuleConfig, TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.errors import UserError
from depthgauge.recipe import first_reason, text_of_option, unused_fields
from depthgauge.registry import RULES
from depthgauge.rules.contract import Rule, RuleOptions


@dataclass(frozen=True)
class RuleChoice:
    """A rule class with validated options.

    Attributes:
        rule_class: the class of the rule.
        options: its validated options.
        text: the rule as the user wrote it.
        source: a text that differs between rules of the same name (see `Kind.find`).
        training: the options of training in the brackets.
        control: the control in the brackets; None without a control.
    """

    rule_class: type[Rule]
    options: RuleOptions
    text: str
    source: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    control: str | None = None

    @cached_property
    def label(self) -> str:
        """The rule's name with, in brackets, the control and all options that are not defaults."""
        given, default = dict(self.options), dict(self.rule_class.Options())
        usual = {name: option.default for name, option in TrainingOptions.model_fields.items()}
        varied = [
            f"{name}={text_of_option(value)}"
            for name, value in [*given.items(), *self.training.items()]
            if value != (default | usual)[name]
        ]
        varied += [self.control] if self.control else []
        return self.rule_class.name + (f"[{','.join(varied)}]" if varied else "")

    @property
    def config(self) -> RuleConfig:
        """The rule as a run's configuration holds it."""
        return RuleConfig(
            name=self.rule_class.name,
            label=self.label,
            options=self.options.model_dump(mode="json"),
            source=self.source,
        )

    def build(self) -> Rule:
        """Make the rule with these options."""
        return self.rule_class(self.options)

    def net(self, base: NetConfig) -> NetConfig:
        """Return the study's network, changed by this rule's control if it has one."""
        return CONTROLS[self.control].net(base) if self.control else base

    def recipe(self, base: Recipe) -> Recipe:
        """Return the study's recipe, changed by this rule's options of training and its control."""
        changes = dict(self.training)
        if self.control:
            changes |= CONTROLS[self.control].training
        unused = unused_fields(dict(base) | changes)
        for name in self.training:
            if name in unused:
                raise UserError(
                    f"{name} in {self.text} has no effect with {unused[name]}; leave it out"
                )
        try:
            return base.model_copy(update=changes)
        except ValidationError as error:
            raise UserError(f"the rule {self.text}: {first_reason(error)}") from error


def choose_rule(text: str) -> RuleChoice:
    """Find the rule that `text` names, and validate the options in its brackets."""
    parts = _parse(text)
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
    """Return the text of a rule with `more` options or words added in its brackets."""
    parts = _parse(text)
    return str(parts._replace(words=[*parts.words, *more]))


def option_names(rule_class: type[Rule]) -> list[str]:
    """List the options of a rule that users can choose."""
    own = rule_class.Options
    return [name for name in own.model_fields if name not in own.fixed]


def _parse(text: str) -> Bracketed:
    return parse_brackets(text, "rule", "dfa or dfa[normalise=batch]")


def _check_names(rule_class: type[Rule], given: Mapping[str, str]) -> None:
    for name in given:
        if name not in option_names(rule_class):
            raise UserError(
                f"the rule {rule_class.name} has no option {name!r}; {_list_options(rule_class)}"
            )


def _check_words(rule_class: type[Rule], words: list[str]) -> None:
    for word in words:
        if word not in CONTROLS:
            needs_value = word in {*option_names(rule_class), *TrainingOptions.model_fields}
            raise UserError(
                f"the option {word!r} has no value; write {word}=…"
                if needs_value
                else f"there is no control {word!r}; {_list_options(rule_class)}"
            )
    if len(words) > 1:
        raise UserError(f"a rule takes one control, but {' and '.join(words)} are given; keep one")


def _list_options(rule_class: type[Rule]) -> str:
    """List everything that the brackets of a rule may hold, for error messages."""
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
            f"option {name!r} of the rule {rule_class.name}: {first['msg']}; "
            f"{_list_options(rule_class)}"
        ) from error
    return options
