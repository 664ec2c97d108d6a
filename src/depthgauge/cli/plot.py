"""`depthgauge plot`: draw figures of studies, without training and without a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.results.ladder import Ladder

FIGURES = {
    "ladder": "accuracy over the number of trained blocks; several studies side by side",
    "audit": "each rule's readings beside the thresholds",
    "layers": "norms of stream and gradient by layer, Γ with its null band, ρ",
    "training": "accuracy, growth and gradient by epoch; epochs at which a diagnostic first fires",
    "null": "alignments with fresh feedback, and with the training feedback",
}


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plot`."""
    parser.description = "; ".join(f"{name}: {summary}" for name, summary in FIGURES.items())
    parser.add_argument("figure", metavar="FIGURE", choices=FIGURES, help=", ".join(FIGURES))
    parser.add_argument(
        "studies",
        nargs="+",
        metavar="DIR",
        help="folder of a study; for the figure ladder, several folders or ladder.json files",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the figure, a name in .png, .svg or .pdf (FIGURE.png)",
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Draw one figure and print its path."""
    from depthgauge.api import plot
    from depthgauge.report.charts.ladder import draw_ladders
    from depthgauge.report.plot import Plot

    paths = [Path(name) for name in args.studies]
    if args.figure == "ladder" and (len(paths) > 1 or paths[0].is_file()):
        drawn = Plot(draw_ladders([_ladder(path) for path in paths]))
    elif len(paths) > 1:
        raise UserError(
            f"the figure {args.figure} shows one study, but {len(paths)} are given; give one folder"
        )
    else:
        drawn = plot(paths[0], args.figure)
    print(drawn.save(args.output or f"{args.figure}.png"))
    return 0


def _ladder(path: Path) -> Ladder:
    """Return the ladder in a study's folder or in a `ladder.json`."""
    from depthgauge.results.ladder import read_ladder
    from depthgauge.results.load import load

    ladder = read_ladder(path) if path.is_file() else load(path).ladder()
    if not ladder.rules:
        raise UserError(f"cannot draw a ladder: {path} has no finished runs; train the study first")
    return ladder
