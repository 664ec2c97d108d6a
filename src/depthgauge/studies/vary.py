"""Every rule at several settings: is a verdict about the rule, or about its recipe?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from depthgauge.config import TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.errors import UserError
from depthgauge.rules.choice import choose_rule, option_names, with_options


def settings_of(rule: str, variations: Sequence[str]) -> list[str]:
    """The rule at every combination of the `variations` that concern it, as texts.

    A variation is written NAME=V1,V2,…; a rule that has no such option is left as it is.
    """
    able = {*option_names(choose_rule(rule).rule_class), *TrainingOptions.model_fields}
    choices = [
        [f"{name}={value}" for value in values]
        for name, values in map(_read, variations)
        if name in able
    ]
    settings = [with_options(rule, *chosen) for chosen in product(*choices)]
    labels = [choose_rule(setting).label for setting in settings]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise UserError(f"--vary gives a setting twice: {', '.join(twice)}")
    return settings


def check_variations(rules: Sequence[str], variations: Sequence[str]) -> None:
    """Refuse what no rule has, and what is varied twice."""
    classes = [choose_rule(rule).rule_class for rule in rules]
    able = dict.fromkeys(
        [*TrainingOptions.model_fields, *(n for c in classes for n in option_names(c))]
    )
    names = [_read(variation)[0] for variation in variations]
    for name in names:
        if name not in able:
            raise UserError(
                f"--vary {name}: no rule of this study has such an option; there are: "
                f"{', '.join(able)}"
            )
        if names.count(name) > 1:
            raise UserError(f"--vary names {name} twice; write its values in one list")


def _read(variation: str) -> tuple[str, list[str]]:
    name, equals, values = variation.partition("=")
    given = [value.strip() for value in values.split(",")]
    if not (name.strip() and equals and all(given)):
        raise UserError(f"cannot read --vary {variation}; write it as NAME=VALUE,VALUE")
    return name.strip(), given


def with_controls(rules: Sequence[str], controls: Sequence[str]) -> list[str]:
    """Every rule, and every rule under each of the controls."""
    for control in controls:
        if control not in CONTROLS:
            raise UserError(f"there is no control {control!r}; there are: {', '.join(CONTROLS)}")
        if controls.count(control) > 1:
            raise UserError(f"--controls names {control} twice")
    return [*rules, *(with_options(rule, control) for control in controls for rule in rules)]
