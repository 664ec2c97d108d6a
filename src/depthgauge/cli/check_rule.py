"""`depthgauge check-rule RULE`: check whether a rule keeps its contract."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from depthgauge.cli.output import add_json_option, print_json

if TYPE_CHECKING:
    from depthgauge.checks.outcome import Outcome


def add_check_rule(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check-rule`."""
    parser.description = (
        "Check on tiny networks whether a rule keeps its contract: shapes, seeds, declared needs, "
        "saved state, training alone and in cohorts. The exit status is 0 if all checks pass, "
        "else 1."
    )
    parser.add_argument("rule", metavar="RULE", help="path/to/file.py:Class, or a rule's name")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Check the rule, and print one line for each check.

    If the rule's own code prints something, the text goes to standard error.
    """
    from depthgauge.checks.check_rule import check_rule
    from depthgauge.json_values import plain
    from depthgauge.rules.choice import choose_rule

    with redirect_stdout(sys.stderr):
        outcomes = check_rule(choose_rule(args.rule))
    if args.json:
        print_json(plain(outcomes))
    else:
        for outcome in outcomes:
            print(_line(outcome))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _line(outcome: Outcome) -> str:
    """Return a line with the check's result and name, and with its message if it has one."""
    if outcome.passed is None:
        return f"-      {outcome.check}: not checked yet: an earlier check failed"
    word = "ok   " if outcome.passed else "WRONG"
    return f"{word}  {outcome.check}" + (f": {outcome.message}" if outcome.message else "")
