"""`depthgauge rules`: what rules there are, and what each sees; `rules RULE`: its options too.

The options of rules stand in their classes, which need torch: `rules RULE` and `rules --json` load
it, the list alone does not.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from depthgauge.cli import lists
from depthgauge.registry import RULES
from depthgauge.rules.access import Access, access_of

if TYPE_CHECKING:
    from depthgauge.rules.description import OptionDescription


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rules`."""
    parser.add_argument("rule", nargs="?", metavar="RULE", help="show the options of this rule")
    lists.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the list, or one rule with everything that goes into its brackets."""
    if args.rule is not None:
        _print_rule(args.rule, args.json)
        return 0
    status = lists.show_list(RULES, as_json=args.json, described=_described, beside=_access)
    if not args.json:
        print("\n`depthgauge rules RULE` shows what can be chosen about a rule.")
    return status


def _described(name: str) -> object:
    from depthgauge.rules.description import describe_rule

    return describe_rule(RULES.find(name)[0])


def _access(name: str) -> str:
    """What a rule sees, read off its source."""
    needs: frozenset[str] = RULES.attribute(name, "needs", frozenset())  # type: ignore[assignment]
    return str(Access(tuple(needs), bool(RULES.attribute(name, "copies_weights", False))))


def _print_rule(reference: str, as_json: bool) -> None:
    from depthgauge.rules.description import describe_controls, describe_rule, describe_training

    rule_class = RULES.find(reference)[0]
    rule = describe_rule(rule_class)
    if as_json:
        print(json.dumps(rule, indent=2))
        return
    column = lists.COLUMN
    print(f"{rule['name']:{column}} {rule['summary']}")
    print(f"{'':{column}} {access_of(rule_class)}")
    _print_options(rule["options"])
    print(f"{'any rule[…]':{column}} options of training")
    _print_options(describe_training())
    print(f"{'any rule[…]':{column}} or under a control")
    _print_options(describe_controls())


def _print_options(options: list[OptionDescription]) -> None:
    for option in options:
        default = "" if option["default"] is None else f"={option['default']}"
        print(f"{'':{lists.COLUMN}}   {option['name']}{default}  {option['description']}")
