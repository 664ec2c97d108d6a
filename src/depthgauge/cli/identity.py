"""`depthgauge identity`: how close the untrained stack is to the identity."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from depthgauge.cli.options import add_net_options, add_seeds, add_task, build_net_config, whole


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `identity` to the command line."""
    parser = subparsers.add_parser(
        "identity", help="how close the untrained stack is to the identity"
    )
    add_task(parser)
    add_net_options(parser, fewest_blocks=1)
    add_seeds(parser)
    parser.add_argument(
        "--samples", type=whole(1), default=256, help="test samples that are read (256)"
    )
    parser.add_argument("--out", metavar="FILE", help="save the JSON document there")
    parser.add_argument("--dry-run", action="store_true", help="show what would be measured")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, save, print."""
    from depthgauge.auditing.identity import identity_config, measure_identity
    from depthgauge.tasks.registry import load_task

    task, net = load_task(args.task), build_net_config(args)
    if args.dry_run:
        print(json.dumps(identity_config(task, net, args.seeds, args.samples), indent=2))
        return 0
    document = measure_identity(task, net, args.seeds, args.samples)
    if args.out:
        _save(document, Path(args.out))
    if args.json:
        print(json.dumps(document, indent=2))
    else:
        _print(document)
    return 0


def _save(document: dict[str, Any], path: Path) -> None:
    from depthgauge.errors import UserError
    from depthgauge.store.files import read_json, write_json

    if path.exists() and read_json(path) == document:
        return
    if path.exists():
        raise UserError(f"{path} exists already and is not overwritten; choose another --out")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, document)


def _print(document: dict[str, Any]) -> None:
    from depthgauge.cli.console import output
    from depthgauge.report.table import terminal_table

    header = ["seed", "‖f_l‖/‖h_l‖ of each block", "‖h_L − h_0‖/‖h_0‖", "cos(h_L, h_0)"]
    rows = [
        [
            seed,
            " ".join(f"{ratio:.4f}" for ratio in reading["per_block_ratio"]),
            f"{reading['rel_dev']:.4f}",
            f"{reading['cos']:.4f}",
        ]
        for seed, reading in document["per_seed"].items()
    ]
    config = document["config"]
    title = (
        f"untrained {config['net']['name']}, width {config['net']['width']}, "
        f"{config['net']['blocks']} blocks, medians over {config['samples']} samples of "
        f"{config['task']}"
    )
    console = output()
    console.print(title, markup=False)
    console.print(terminal_table(header, rows))
    console.print(
        f"A block changes the stream by {100 * document['per_block_ratio_grand_mean']:.1f} %, the "
        f"whole stack by {100 * document['rel_dev_mean']:.1f} %."
    )
