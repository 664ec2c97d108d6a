"""`depthgauge check-rule RULE`: does a rule keep its contract?"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthgauge.checks.outcome import Outcome


DESCRIPTION = (
    "Check a rule on tiny networks: shapes, seeds, what it declares, what it "
    "keeps, many runs at once, training. Exit status 0 if everything passes, else 1."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check-rule`."""
    parser.add_argument("rule", metavar="RULE", help="path/to/file.py:Class, or a rule's name")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Check and print, one line for each check; what the rule itself prints goes aside."""
    from depthgauge.checks.check_rule import check_rule
    from depthgauge.rules.choice import choose_rule

    with redirect_stdout(sys.stderr):
        outcomes = check_rule(choose_rule(args.rule))
    if args.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=2, ensure_ascii=False))
    else:
        for outcome in outcomes:
            print(_line(outcome))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _line(outcome: Outcome) -> str:
    """What was checked, and in words what is wrong."""
    if outcome.passed is None:
        return f"-      {outcome.check}: not checked yet"
    word = "ok   " if outcome.passed else "WRONG"
    return f"{word}  {outcome.check}" + (f": {outcome.message}" if outcome.message else "")
