"""`depthgauge rules`, `nets`, `tasks`: what there is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from depthgauge.rules.contract import Rule

Entry = dict[str, Any]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the three lists to the command line."""
    for name, listing in (("rules", _rules), ("nets", _nets), ("tasks", _tasks)):
        parser = subparsers.add_parser(name, help=f"what {name} there are")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.set_defaults(run=run, listing=listing)


def run(args: argparse.Namespace) -> int:
    """Print one list."""
    listing: Callable[[], list[Entry]] = args.listing
    entries = listing()
    if args.json:
        print(json.dumps(entries, indent=2))
        return 0
    for entry in entries:
        _show(entry)
    for entry in _beside_rules() if listing is _rules else []:
        _show(entry)
    return 0


def _show(entry: Entry) -> None:
    print(f"{entry['name']:14} {entry['summary']}")
    for option in entry.get("options", []):
        default = "" if option["default"] is None else f"={option['default']}"
        print(f"{'':14}   {option['name']}{default}  {option['description']}")


def _rules() -> list[Entry]:
    from depthgauge.rules.choice import option_names

    return [
        {
            "name": rule.name,
            "summary": rule.summary,
            "needs": sorted(rule.needs),
            "options": _options(rule.Options, option_names(rule)),
        }
        for rule in _loadable()
    ]


def _options(model: type[BaseModel], names: Iterable[str]) -> list[Entry]:
    fields = {name: model.model_fields[name] for name in names}
    return [
        {
            "name": name,
            "default": field.get_default(call_default_factory=True),
            "description": field.description or "",
        }
        for name, field in fields.items()
    ]


def _beside_rules() -> list[Entry]:
    """What else may stand in a rule's brackets."""
    from depthgauge.config import TrainingOptions
    from depthgauge.controls import CONTROLS

    controls = [
        {"name": name, "default": None, "description": control.summary}
        for name, control in CONTROLS.items()
    ]
    training = _options(TrainingOptions, TrainingOptions.model_fields)
    return [
        {"name": "any rule[…]", "summary": "options of training", "options": training},
        {"name": "any rule[…]", "summary": "or under a control", "options": controls},
    ]


def _loadable() -> Iterator[type[Rule]]:
    """All rules; one that cannot be loaded is named on standard error."""
    from depthgauge.rules.registry import known_rules, load_known

    for name in known_rules():
        try:
            yield load_known(name)
        except UserError as error:
            print(f"depthgauge: {error}", file=sys.stderr)


def _nets() -> list[Entry]:
    from depthgauge.nets.registry import NETS

    return [
        {"name": name, "summary": (net.__doc__ or "").splitlines()[0]} for name, net in NETS.items()
    ]


def _tasks() -> list[Entry]:
    from depthgauge.tasks.registry import TASKS

    return [
        {"name": name, "summary": task.summary, "epochs": task.epochs, "width": task.width}
        for name, task in TASKS.items()
    ]
