"""`depthgauge rules`, `nets` and `tasks`: list the available rules, networks and tasks.

The lists do not import torch. `rules RULE`, `nets NET` and both with --json import torch, since
options are declared in classes that need torch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from depthgauge.cli.output import add_json_option, print_json
from depthgauge.errors import UserError
from depthgauge.registry import NETS, RULES, TASKS, Kind
from depthgauge.rules.access import Access, access_of

if TYPE_CHECKING:
    from depthgauge.brackets import OptionDescription

COLUMN = 14
"""The width of the first column, which holds the names, in characters."""


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rules`."""
    parser.add_argument("rule", nargs="?", metavar="RULE", help="show the options of this rule")
    add_json_option(parser)
    parser.set_defaults(run=_run_rules)


def add_nets(parser: argparse.ArgumentParser) -> None:
    """Add the options of `nets`."""
    parser.add_argument("net", nargs="?", metavar="NET", help="show the options of this network")
    add_json_option(parser)
    parser.set_defaults(run=_run_nets)


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the options of `tasks`."""
    add_json_option(parser)
    parser.set_defaults(run=partial(_show_list, TASKS, describe=_describe_task))


def _run_rules(args: argparse.Namespace) -> int:
    """Print the list of rules, or one rule with its options."""
    if args.rule is not None:
        _print_rule(args.rule, args.json)
        return 0
    _show_list(RULES, args, describe=_describe_rule, second_line=_access)
    if not args.json:
        print("\n`depthgauge rules RULE` shows the options of a rule.")
    return 0


def _run_nets(args: argparse.Namespace) -> int:
    """Print the list of networks, or one network with its options."""
    if args.net is not None:
        _print_net(args.net, args.json)
        return 0
    _show_list(NETS, args, describe=_describe_net)
    if not args.json:
        print("\n`depthgauge nets NET` shows the options of a network.")
    return 0


def _show_list(
    kind: Kind[Any],
    args: argparse.Namespace,
    *,
    describe: Callable[[str], object],
    second_line: Callable[[str], str] | None = None,
) -> int:
    """Print the name and summary of each rule, network or task; with --json, print JSON."""
    if args.json:
        print_json([describe(name) for name in _loadable(kind)])
        return 0
    for name in _loadable(kind):
        print(f"{name:{COLUMN}} {kind.summary(name)}")
        if second_line is not None:
            print(f"{'':{COLUMN}} {second_line(name)}")
    return 0


def _loadable(kind: Kind[Any]) -> Iterator[str]:
    """Yield the names that can be loaded; print the errors of other names on standard error."""
    for name in kind.names:
        try:
            kind.summary(name)
        except UserError as error:
            print(f"depthgauge: {error}", file=sys.stderr)
        else:
            yield name


def _describe_net(name: str) -> dict[str, Any]:
    from depthgauge.brackets import describe_options
    from depthgauge.nets.architectures.choice import choose_net, options_of

    choice = choose_net(name)
    options = options_of(choice.net_class)
    return {
        "name": name,
        "summary": NETS.summary(name),
        "width": choice.usual_width,
        "options": describe_options(options, options.model_fields),
    }


def _describe_task(name: str) -> object:
    task, _ = TASKS.find(name)
    return {"name": name, "summary": task.summary, "epochs": task.epochs, "width": task.width}


def _describe_rule(name: str) -> object:
    from depthgauge.rules.description import describe_rule

    return describe_rule(RULES.find(name)[0])


def _access(name: str) -> str:
    """Return in words what a rule may see of a network.

    The module of a built-in rule is not imported.
    """
    needs: frozenset[str] = RULES.attribute(name, "needs", frozenset())  # type: ignore[assignment]
    return str(Access(tuple(needs), bool(RULES.attribute(name, "copies_weights", False))))


def _print_net(name: str, as_json: bool) -> None:
    net = _describe_net(name)
    if as_json:
        print_json(net)
        return
    width = net["width"]
    print(f"{name:{COLUMN}} {net['summary']}")
    print(f"{'':{COLUMN}} width {'as the task says' if width is None else width}, with --width N")
    _print_options(net["options"])


def _print_rule(reference: str, as_json: bool) -> None:
    from depthgauge.rules.description import describe_controls, describe_rule, describe_training

    rule_class = RULES.find(reference)[0]
    rule = describe_rule(rule_class)
    if as_json:
        print_json(rule)
        return
    print(f"{rule['name']:{COLUMN}} {rule['summary']}")
    print(f"{'':{COLUMN}} {access_of(rule_class)}")
    _print_options(rule["options"])
    print(f"{'any rule[…]':{COLUMN}} options of training")
    _print_options(describe_training())
    print(f"{'any rule[…]':{COLUMN}} or under a control")
    _print_options(describe_controls())


def _print_options(options: list[OptionDescription]) -> None:
    for option in options:
        default = "" if option["default"] is None else f"={option['default']}"
        print(f"{'':{COLUMN}}   {option['name']}{default}  {option['description']}")
