"""Check what a rule class must declare before it can be used."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import get_args

from depthgauge.config import TrainingOptions
from depthgauge.controls import CONTROLS
from depthgauge.errors import UserError, one_line
from depthgauge.rules.bp import BP
from depthgauge.rules.contract import Need, Rule, RuleOptions

NAME = re.compile(r"\w[\w.-]*")


def validate_rule(candidate: object, reference: str) -> type[Rule]:
    """Return the candidate if it is a valid rule; `reference` is how the user named it."""
    if not (isinstance(candidate, type) and issubclass(candidate, Rule)):
        raise UserError(
            f"{reference} is not a rule: it must be a subclass of depthgauge.rules.contract.Rule"
        )
    for check in CHECKS:
        wrong = check(candidate)
        if wrong is not None:
            raise UserError(f"the rule {reference} {wrong}")
    return candidate


def _texts(rule: type[Rule]) -> str | None:
    for attribute in ("name", "summary"):
        if not isinstance(getattr(rule, attribute, None), str):
            return f"has no `{attribute}`; set it to a string"
    if NAME.fullmatch(rule.name) is None:
        return f"is called {rule.name!r}; a name is letters, digits, underscores, dots and hyphens"
    return None


def _credit(rule: type[Rule]) -> str | None:
    if inspect.isabstract(rule):
        return "does not define `credit`; write that method"
    if rule.end_to_end and rule is not BP:
        return "sets `end_to_end`, which skips `credit`; only bp may, so remove it"
    return None


def _options(rule: type[Rule]) -> str | None:
    if not (isinstance(rule.Options, type) and issubclass(rule.Options, RuleOptions)):
        return "has `Options` that are not a subclass of depthgauge.rules.contract.RuleOptions"
    taken = sorted(rule.Options.model_fields.keys() & {*TrainingOptions.model_fields, *CONTROLS})
    if taken:
        return f"has an option called {', '.join(taken)}, which is taken; choose another name"
    try:
        rule.Options()
    except Exception as error:
        return f"cannot be built without options ({one_line(error)}); give each option a default"
    return None


def _needs(rule: type[Rule]) -> str | None:
    if not isinstance(rule.needs, set | frozenset):
        return "has `needs` that are not a set; write them as frozenset({'error'})"
    unknown = sorted(map(repr, rule.needs - set(get_args(Need))))
    if unknown:
        return (
            f"needs {', '.join(unknown)}, which does not exist; a rule may need: "
            f"{', '.join(get_args(Need))}"
        )
    return None


CHECKS: tuple[Callable[[type[Rule]], str | None], ...] = (_texts, _credit, _options, _needs)
