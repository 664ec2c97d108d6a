"""`depthgauge plot`: figures from studies, without training anything and without a browser."""

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
    "training": "accuracy, growth and gradient by epoch; where a diagnostic first fires",
    "null": "alignments that fresh feedback has, and the training feedback's own",
}


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plot`."""
    parser.description = "; ".join(f"{name}: {summary}" for name, summary in FIGURES.items())
    parser.add_argument("figure", metavar="FIGURE", choices=FIGURES, help=", ".join(FIGURES))
    parser.add_argument(
        "studies",
        nargs="+",
        metavar="DIR",
        help="the folder of a study; a ladder takes several, and ladder.json files",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="ends in .png, .svg or .pdf (FIGURE.png)"
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Draw one figure and say where it is."""
    from depthgauge.api import plot
    from depthgauge.report.charts.ladder import draw_ladders
    from depthgauge.report.plot import Plot

    paths = [Path(name) for name in args.studies]
    if args.figure == "ladder" and (len(paths) > 1 or paths[0].is_file()):
        drawn = Plot(draw_ladders([_ladder(path) for path in paths]))
    elif len(paths) > 1:
        raise UserError(f"{args.figure} is drawn of one study; {len(paths)} were given")
    else:
        drawn = plot(paths[0], args.figure)
    print(drawn.save(args.output or f"{args.figure}.png"))
    return 0


def _ladder(path: Path) -> Ladder:
    """The ladder of a study, or in a `ladder.json`."""
    from depthgauge.results.ladder import read_ladder
    from depthgauge.results.load import load

    ladder = read_ladder(path) if path.is_file() else load(path).ladder()
    if not ladder.rules:
        raise UserError(f"{path} has no finished runs, so there is no ladder to draw")
    return ladder
