"""The whole contract of a rule, check by check."""

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
from depthgauge.checks.bench import Bench
from depthgauge.checks.outcome import Check, Outcome, Remark
from depthgauge.checks.randomness import global_seed
from depthgauge.errors import one_line
from depthgauge.rules.choice import RuleChoice
from depthgauge.rules.contract import Rule

STAGES: list[list[Check]] = [
    [feedback_checks.KIND],
    feedback_checks.CHECKS,
    [feedback_checks.WEIGHTS],
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
"""What a later stage finds can be trusted only where the earlier ones have passed."""

LONGEST = 600
"""Characters of a sentence; some of torch's are pages."""


def check_rule(choice: RuleChoice) -> list[Outcome]:
    """Every check on tiny networks; after a stage that fails, the rest is not checked."""
    bench, outcomes, sound = Bench(choice), [], True
    for stage in STAGES:
        made = [_made(check, bench) if sound else Outcome(check.what, None) for check in stage]
        outcomes += made
        sound = sound and all(outcome.passed for outcome in made)
    return outcomes


@torch.no_grad()
def _made(check: Check, bench: Bench) -> Outcome:
    """A check that was made; an exception inside the rule becomes its sentence."""
    try:
        with global_seed(0):
            found = check.finds(bench)
    except (Exception, SystemExit) as error:
        found = f"the rule raises {one_line(error)}{_where(error, bench.choice.rule_class)}"
        if "does not require grad" in found:
            found += "; autograd is off while a rule is asked: use torch.func.grad"
    if found is None:
        return Outcome(check.what, True)
    return Outcome(check.what, isinstance(found, Remark), shorten(found, LONGEST, placeholder=" …"))


def _where(error: BaseException, rule_class: type[Rule]) -> str:
    """The last line of the rule's own file that the exception came through."""
    file = inspect.getfile(rule_class)
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f" (line {lines[-1]} of its file)" if lines else ""
