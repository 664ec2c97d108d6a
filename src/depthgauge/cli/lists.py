"""`depthgauge rules`, `nets`, `tasks`: what there is, without waiting for torch.

The options of rules stand in their classes, which need torch: `rules NAME` and `rules --json` load
it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from depthgauge.errors import UserError
from depthgauge.registry import NETS, RULES, TASKS, Kind

if TYPE_CHECKING:
    from depthgauge.rules.description import OptionDescription

COLUMN = 14


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the three lists to the command line."""
    for name, kind, described in (
        ("rules", RULES, _described_rule),
        ("nets", NETS, _described_net),
        ("tasks", TASKS, _described_task),
    ):
        parser = subparsers.add_parser(name, help=f"what {name} there are")
        if kind is RULES:
            parser.add_argument(
                "rule", nargs="?", metavar="RULE", help="show the options of this rule"
            )
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.set_defaults(run=run, kind=kind, described=described, rule=None)


def run(args: argparse.Namespace) -> int:
    """Print one list, or one rule with everything that goes into its brackets."""
    if args.rule is not None:
        _print_rule(args.rule, args.json)
    elif args.json:
        entries = [args.described(name) for name in _loadable(args.kind)]
        print(json.dumps(entries, indent=2))
    else:
        for name in _loadable(args.kind):
            print(f"{name:{COLUMN}} {args.kind.summary(name)}")
        if args.kind is RULES:
            print("\n`depthgauge rules RULE` shows what can be chosen about a rule.")
    return 0


def _loadable(kind: Kind[Any]) -> Iterator[str]:
    """Yield all names; an installed one is loaded, and named on standard error if that fails."""
    for name in kind.names:
        try:
            kind.summary(name)
        except UserError as error:
            print(f"depthgauge: {error}", file=sys.stderr)
        else:
            yield name


def _print_rule(reference: str, as_json: bool) -> None:
    from depthgauge.rules.description import describe_controls, describe_rule, describe_training

    rule = describe_rule(RULES.find(reference)[0])
    if as_json:
        print(json.dumps(rule, indent=2))
        return
    print(f"{rule['name']:{COLUMN}} {rule['summary']}")
    _print_options(rule["options"])
    print(f"{'any rule[…]':{COLUMN}} options of training")
    _print_options(describe_training())
    print(f"{'any rule[…]':{COLUMN}} or under a control")
    _print_options(describe_controls())


def _print_options(options: list[OptionDescription]) -> None:
    for option in options:
        default = "" if option["default"] is None else f"={option['default']}"
        print(f"{'':{COLUMN}}   {option['name']}{default}  {option['description']}")


def _described_rule(name: str) -> object:
    from depthgauge.rules.description import describe_rule

    return describe_rule(RULES.find(name)[0])


def _described_net(name: str) -> object:
    return {"name": name, "summary": NETS.summary(name)}


def _described_task(name: str) -> object:
    task, _ = TASKS.find(name)
    return {"name": name, "summary": task.summary, "epochs": task.epochs, "width": task.width}
