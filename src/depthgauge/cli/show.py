"""`depthgauge show RUN`: print all that is known about one run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.output import add_json_option, print_json

if TYPE_CHECKING:
    from pydantic import JsonValue


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the options of `show`."""
    parser.add_argument("run_folder", metavar="RUN", help="folder of a run: DIR/runs/IDENTITY")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Read the run's folder and print its content."""
    from depthgauge.results.run_document import run_document

    document = run_document(Path(args.run_folder))
    if args.json:
        print_json(document)
        return 0
    for line in _lines(document):
        print(line)
    return 0


def _lines(document: Mapping[str, JsonValue], indent: str = "") -> list[str]:
    """Return a document as indented lines `name: value`."""
    lines = []
    for name, value in document.items():
        if isinstance(value, dict) and value:
            lines += [f"{indent}{name}:", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {_as_text(value)}")
    return lines


def _as_text(value: JsonValue) -> str:
    if isinstance(value, list):
        return "  ".join(map(_as_text, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return "–" if value is None else str(value)
