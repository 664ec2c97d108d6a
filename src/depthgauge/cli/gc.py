"""`depthgauge gc`: show the files that a study no longer needs; with --delete, delete them."""

from __future__ import annotations

import argparse
from pathlib import Path

MEGABYTE = 1e6


def add_gc(parser: argparse.ArgumentParser) -> None:
    """Add the options of `gc`."""
    parser.description = (
        "Show the files that are no longer needed: temporary files of killed processes, claims on "
        "finished cohorts, and older checkpoints of finished runs. Results and the newest "
        "checkpoints are never deleted."
    )
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    parser.add_argument("--delete", action="store_true", help="delete the files shown")
    parser.add_argument(
        "--quarantine", action="store_true", help="also show damaged files that were put aside"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Print the files with their sizes; with --delete, delete them."""
    from depthgauge.store.garbage import garbage_in

    files = garbage_in(Path(args.study), quarantined=args.quarantine)
    for file in files:
        print(f"{file.size / MEGABYTE:9.3f} MB  {file.path}  ({file.why})")
        if args.delete:
            file.path.unlink(missing_ok=True)
    if not files:
        print("nothing to delete")
        return 0
    count = f"{len(files)} file{'s' if len(files) > 1 else ''}"
    total = sum(file.size for file in files) / MEGABYTE
    verb = "deleted" if args.delete else "could be deleted (--delete does it)"
    print(f"{count}, {total:.3f} MB {verb}")
    return 0
