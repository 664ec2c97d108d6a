"""Every rule at several settings and under controls: is a verdict about the rule, or its recipe?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from depthgauge.config import TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.errors import OptionError
from depthgauge.rules.choice import RuleChoice, choose_rule, option_names, with_options

Variations = Mapping[str, Sequence[str]]
"""Values of options as texts, by the option's name."""


def settings_of(rule: str, variations: Variations) -> list[str]:
    """Return the rule at every combination of the `variations` that concern it, as texts.

    A rule that has no such option is left as it is.
    """
    able = {*option_names(choose_rule(rule).rule_class), *TrainingOptions.model_fields}
    choices = [
        [f"{name}={value}" for value in values]
        for name, values in variations.items()
        if name in able
    ]
    settings = [with_options(rule, *chosen) for chosen in product(*choices)]
    labels = [choose_rule(setting).label for setting in settings]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise OptionError("vary", f"--vary gives a setting twice: {', '.join(twice)}")
    return settings


def check_variations(rules: Sequence[str], variations: Variations) -> None:
    """Refuse what no rule has."""
    classes = [choose_rule(rule).rule_class for rule in rules]
    able = dict.fromkeys(
        [*TrainingOptions.model_fields, *(n for c in classes for n in option_names(c))]
    )
    for name in variations:
        if name not in able:
            raise OptionError(
                "vary",
                f"--vary {name}: no rule of this study has such an option; there are: "
                f"{', '.join(able)}",
            )


def with_controls(rules: Sequence[str], controls: Sequence[str]) -> list[str]:
    """Return every rule, and every rule under each of the controls."""
    for control in controls:
        if control not in CONTROLS:
            raise OptionError(
                "controls", f"there is no control {control!r}; there are: {', '.join(CONTROLS)}"
            )
    return [*rules, *(with_options(rule, control) for control in controls for rule in rules)]


def chosen_rules(
    rules: Sequence[str], variations: Variations, controls: Sequence[str]
) -> list[RuleChoice]:
    """Return every rule that a study trains: at its settings, and under the controls."""
    check_variations(rules, variations)
    settings = [setting for rule in rules for setting in settings_of(rule, variations)]
    return [choose_rule(text) for text in with_controls(settings, controls)]
