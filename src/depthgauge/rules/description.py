"""Describe rules for `depthgauge rules`: what they need and see, and their options."""

from __future__ import annotations

from typing import TypedDict

from depthgauge.brackets import OptionDescription, describe_options
from depthgauge.config import TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.rules.access import access_of
from depthgauge.rules.choice import option_names
from depthgauge.rules.contract import Rule


class RuleDescription(TypedDict):
    """A rule with its options, as `depthgauge rules --json` prints it."""

    name: str
    summary: str
    needs: list[str]
    sees: list[str]
    transports: list[str]
    options: list[OptionDescription]


def describe_rule(rule: type[Rule]) -> RuleDescription:
    """Describe one rule: what it sees, and the options that users can choose."""
    access = access_of(rule)
    return {
        "name": rule.name,
        "summary": rule.summary,
        "needs": list(access.needs),
        "sees": list(access.sees),
        "transports": list(access.transports),
        "options": describe_options(rule.Options, option_names(rule)),
    }


def describe_training() -> list[OptionDescription]:
    """Describe the options of training, which go into the brackets of any rule."""
    return describe_options(TrainingOptions, TrainingOptions.model_fields)


def describe_controls() -> list[OptionDescription]:
    """Describe the controls, which go into the brackets of any rule."""
    return [
        {"name": name, "default": None, "description": control.summary}
        for name, control in CONTROLS.items()
    ]
