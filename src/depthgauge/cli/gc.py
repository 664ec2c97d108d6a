"""`depthgauge gc`: what a study's folder does not need any more; shown first, deleted if asked."""

from __future__ import annotations

import argparse
from pathlib import Path

MEGABYTE = 1e6


DESCRIPTION = (
    "Temporary files of processes that were killed, claims of nobody, older "
    "checkpoints of runs that are done. Results and what goes on from them are never touched."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `gc`."""
    parser.add_argument("study", metavar="DIR", help="folder of a study")
    parser.add_argument("--delete", action="store_true", help="delete what is shown")
    parser.add_argument("--quarantine", action="store_true", help="also what was put aside as bad")


def run(args: argparse.Namespace) -> int:
    """Show, then delete if that was asked for."""
    from depthgauge.store.garbage import garbage_in

    found = garbage_in(Path(args.study), quarantined=args.quarantine)
    for one in found:
        print(f"{one.size / MEGABYTE:9.3f} MB  {one.path}  ({one.why})")
    total = sum(one.size for one in found) / MEGABYTE
    if args.delete:
        for one in found:
            one.path.unlink(missing_ok=True)
    verb = "deleted" if args.delete else "could be deleted (--delete does it)"
    files = f"{len(found)} file{'s' if len(found) > 1 else ''}"
    print(f"{files}, {total:.3f} MB {verb}" if found else "nothing to delete")
    return 0
