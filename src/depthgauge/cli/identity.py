"""`depthgauge identity`: how close the untrained stack is to the identity."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import add_study_options, config_of
from depthgauge.cli.numbers import whole
from depthgauge.study_config import StudyConfig

if TYPE_CHECKING:
    from depthgauge.auditing.identity import IdentityResult

USED = {"task", "net", "width", "depth", "seeds"}
"""The options of a study that matter here."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `identity`."""
    add_study_options(parser, without=StudyConfig.model_fields.keys() - USED)
    parser.add_argument(
        "--samples", type=whole(1), default=256, help="test samples that are read (256)"
    )
    parser.add_argument("--save", metavar="FILE", help="save the JSON document there")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Measure, save, print."""
    from depthgauge.api import identity

    result = identity(config_of(args), samples=args.samples)
    if args.save:
        _save(result, Path(args.save))
    if args.json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        _print(result)
    return 0


def _save(result: IdentityResult, path: Path) -> None:
    from depthgauge.errors import UserError
    from depthgauge.store.files import make_folder, read_json, write_json

    document = result.to_dict()
    if path.exists() and read_json(path) == document:
        return
    if path.exists():
        raise UserError(f"{path} exists already and is not overwritten; choose another --save")
    make_folder(path.parent)
    write_json(path, document)


def _print(result: IdentityResult) -> None:
    from statistics import fmean

    from depthgauge.report.console import output
    from depthgauge.report.table import terminal_table

    header = ["seed", "‖f_l‖/‖h_l‖ of each block", "‖h_L − h_0‖/‖h_0‖", "cos(h_L, h_0)"]
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
    console.print(terminal_table(header, rows))
    console.print(
        f"A block changes the stream by {100 * fmean(result.per_block_ratio):.1f} %, the whole "
        f"stack by {100 * (result.rel_dev.mean or 0):.1f} %."
    )
