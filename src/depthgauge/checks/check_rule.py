"""Check the whole contract of a rule."""

from __future__ import annotations

import inspect
import traceback
from textwrap import shorten

import torch

from depthgauge.checks import (
    credit_checks,
    feedback_checks,
    learning_checks,
    run_checks,
    training_checks,
)
from depthgauge.checks.checked_rule import CheckedRule
from depthgauge.checks.outcome import Check, Outcome, Remark
from depthgauge.checks.randomness import global_seed
from depthgauge.errors import one_line
from depthgauge.rules.choice import RuleChoice
from depthgauge.rules.contract import Rule

STAGES: list[list[Check]] = [
    [feedback_checks.KIND],
    feedback_checks.CHECKS,
    [credit_checks.NEEDS],
    [credit_checks.SHAPES],
    [credit_checks.PRECISION],
    [*credit_checks.CHECKS, learning_checks.LEARNS],
    [credit_checks.RANDOM],
    [learning_checks.RESTORED],
    run_checks.LIFTED,
    run_checks.CHECKS,
    training_checks.CHECKS,
]
"""The checks in their order. A stage makes sense only if all earlier stages have passed."""

MOST_CHARACTERS = 600
"""Longer sentences about a fault are shortened, since some of torch's messages fill pages."""


def check_rule(choice: RuleChoice) -> list[Outcome]:
    """Run every check on tiny networks; after a stage with a fault, skip all later checks."""
    checked, outcomes, passed = CheckedRule(choice), [], True
    for stage in STAGES:
        made = [_make(check, checked) if passed else Outcome(check.what, None) for check in stage]
        outcomes += made
        passed = passed and all(outcome.passed for outcome in made)
    return outcomes


@torch.no_grad()
def _make(check: Check, checked: CheckedRule) -> Outcome:
    """Run a check; an exception in the rule's code counts as a fault."""
    try:
        with global_seed(0):
            found = check.find_fault(checked)
    except (Exception, SystemExit) as error:
        found = f"the rule raises {one_line(error)}{_where(error, checked.choice.rule_class)}"
        if "does not require grad" in found:
            found += "; autograd is off while a rule computes credit, so use torch.func.grad"
    if found is None:
        return Outcome(check.what, True)
    sentence = shorten(found, MOST_CHARACTERS, placeholder=" …")
    return Outcome(check.what, isinstance(found, Remark), sentence)


def _where(error: BaseException, rule_class: type[Rule]) -> str:
    """Say in words which line of the rule's file raised the exception; "" if none did."""
    file = inspect.getfile(rule_class)
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f" (line {lines[-1]} of its file)" if lines else ""
