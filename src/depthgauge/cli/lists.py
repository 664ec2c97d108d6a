"""`depthgauge rules`, `nets`, `tasks`: what there is, without waiting for torch."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.cli.catalogue import Entry


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
    for entry in _shipped("beside rules") if listing is _rules else []:
        _show(entry)
    return 0


def _show(entry: Entry) -> None:
    print(f"{entry['name']:14} {entry['summary']}")
    for option in entry.get("options", []):
        default = "" if option["default"] is None else f"={option['default']}"
        print(f"{'':14}   {option['name']}{default}  {option['description']}")


def _shipped(kind: str) -> list[Entry]:
    """What comes with the package, as `make catalogue` found it."""
    text = Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
    entries: list[Entry] = json.loads(text)[kind]
    return entries


def _rules() -> list[Entry]:
    return list(_described())


def _described() -> Iterator[Entry]:
    """All rules; an installed one is loaded, and named on standard error where that fails."""
    from depthgauge.rules.known import known_rules

    shipped = {entry["name"]: entry for entry in _shipped("rules")}
    for name in known_rules():
        try:
            yield shipped[name] if name in shipped else _installed(name)
        except UserError as error:
            print(f"depthgauge: {error}", file=sys.stderr)


def _installed(name: str) -> Entry:
    from depthgauge.cli.catalogue import described
    from depthgauge.rules.registry import load_known

    return described(load_known(name))


def _nets() -> list[Entry]:
    return _shipped("nets")


def _tasks() -> list[Entry]:
    return _shipped("tasks")
