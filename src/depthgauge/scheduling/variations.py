"""Vary the rules of a study: try settings of their options, add controls, and add a floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from depthgauge.config import TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.errors import OptionError
from depthgauge.rules.choice import RuleChoice, choose_rule, option_names, with_options

SHALLOW = "bp[shallow]"
"""The shallow floor: the network without blocks, trained by backpropagation."""

Variations = Mapping[str, Sequence[str]]
"""The values to try for each option, as texts, by the option's name."""


def settings_of(rule: RuleChoice, variations: Variations) -> list[RuleChoice]:
    """Return the rule at every combination of values in `variations`.

    Options that the rule does not have are left out. If the rule has none of the options, it is
    returned unchanged.
    """
    able = {*option_names(rule.rule_class), *TrainingOptions.model_fields}
    choices = [
        [f"{name}={value}" for value in values]
        for name, values in variations.items()
        if name in able
    ]
    if not choices:
        return [rule]
    settings = [choose_rule(with_options(rule.text, *chosen)) for chosen in product(*choices)]
    labels = [setting.label for setting in settings]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise OptionError(
            "vary", f"--vary gives the setting {', '.join(twice)} twice; give each value once"
        )
    return settings


def at_all_settings(rules: Sequence[RuleChoice], variations: Variations) -> list[RuleChoice]:
    """Return every rule at every setting; refuse an option that no rule has."""
    names = [name for rule in rules for name in option_names(rule.rule_class)]
    able = dict.fromkeys([*TrainingOptions.model_fields, *names])
    for name in variations:
        if name not in able:
            raise OptionError(
                "vary",
                f"--vary {name}: no rule of this study has an option {name}; their options are: "
                f"{', '.join(able)}",
            )
    return [setting for rule in rules for setting in settings_of(rule, variations)]


def with_controls(rules: Sequence[RuleChoice], controls: Sequence[str]) -> list[RuleChoice]:
    """Return the rules, followed by the rules under each control."""
    for control in controls:
        if control not in CONTROLS:
            raise OptionError(
                "controls", f"there is no control {control!r}; there are: {', '.join(CONTROLS)}"
            )
    controlled = (choose_rule(with_options(r.text, c)) for c in controls for r in rules)
    return [*rules, *controlled]


def with_floor(rules: Sequence[RuleChoice]) -> list[RuleChoice]:
    """Return the rules, with the shallow floor added at the end if it is missing."""
    if any(choice.label == SHALLOW for choice in rules):
        return list(rules)
    return [*rules, choose_rule(SHALLOW)]
