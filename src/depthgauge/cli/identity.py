"""`depthgauge identity`: measure how close the untrained blocks are to the identity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import add_study_options, config_of, whole
from depthgauge.cli.output import add_json_option, print_json
from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.auditing.identity import IdentityResult

USED = ("task", "net", "width", "depth", "seeds")
"""The options of a study that `identity` takes."""


def add_identity(parser: argparse.ArgumentParser) -> None:
    """Add the options of `identity`."""
    add_study_options(parser, only=USED)
    parser.add_argument(
        "--samples", type=whole(1), default=256, help="number of test samples (256)"
    )
    parser.add_argument("--save", metavar="FILE", help="also save the JSON document to this file")
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Measure the untrained networks, print the result, and save it if --save is given."""
    from depthgauge.api import identity

    result = identity(config_of(args), samples=args.samples)
    if args.save:
        _save(result, Path(args.save))
    if args.json:
        print_json(result.to_dict())
    else:
        _print(result)
    return 0


def _save(result: IdentityResult, path: Path) -> None:
    """Write the result to a new file; an existing file must have the same content."""
    from depthgauge.store.files import make_folder, read_json, write_json

    document = result.to_dict()
    if not path.exists():
        make_folder(path.parent)
        write_json(path, document)
    elif read_json(path) != document:
        raise UserError(
            f"{path} exists with other content and is not overwritten; choose another file for "
            "--save"
        )


def _print(result: IdentityResult) -> None:
    from statistics import fmean

    from depthgauge.report.tables.table import make_table, numbers, words
    from depthgauge.report.writers.console import output
    from depthgauge.report.writers.terminal_table import terminal_table

    titles = ("‖f_l‖/‖h_l‖ of each block", "‖h_L − h_0‖/‖h_0‖", "cos(h_L, h_0)")
    rows = [
        [
            str(seed),
            " ".join(f"{ratio:.4f}" for ratio in reading.per_block_ratio),
            f"{reading.rel_dev:.4f}",
            f"{reading.cos:.4f}",
        ]
        for seed, reading in result.per_seed.items()
    ]
    net, console = result.net, output()
    console.print(
        f"untrained {net.name}, width {net.width}, {net.blocks} blocks, medians over "
        f"{result.samples} samples of {result.task}",
        markup=False,
    )
    table = make_table("identity", "", [*words("seed"), *numbers(*titles)], rows)
    console.print(terminal_table(table))
    console.print(
        f"A block changes the stream by {100 * fmean(result.per_block_ratio):.1f} %, the whole "
        f"stack by {100 * (result.rel_dev.mean or 0):.1f} %."
    )
