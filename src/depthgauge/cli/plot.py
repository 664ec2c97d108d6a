"""`depthgauge plot`: figures from studies, without training anything and without a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from depthgauge.report.figures.all import Missing
    from depthgauge.results.ladder import Ladder
    from depthgauge.results.study import StudyResult

FIGURES = {
    "ladder": "accuracy over the number of trained blocks; several studies side by side",
    "audit": "each rule's readings beside the thresholds",
    "layers": "norms of stream and gradient by layer, Γ with its null band, ρ",
    "training": "accuracy, growth and gradient by epoch; where a diagnostic first fires",
    "null": "alignments that fresh feedback has, and the training feedback's own",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `plot` and the figures it draws."""
    parser = subparsers.add_parser("plot", help="figures from studies: .png, .svg or .pdf")
    figures = parser.add_subparsers(metavar="FIGURE", required=True)
    for name, summary in FIGURES.items():
        figure = figures.add_parser(name, help=summary, description=summary)
        if name == "ladder":
            figure.add_argument(
                "studies", nargs="+", metavar="DIR", help="folders of studies, or ladder.json files"
            )
        else:
            figure.add_argument("studies", nargs=1, metavar="DIR", help="the folder of a study")
        figure.add_argument(
            "-o",
            "--output",
            default=f"{name}.png",
            metavar="FILE",
            help=f"ends in .png, .svg or .pdf (default: {name}.png)",
        )
        figure.set_defaults(run=run, figure=name)


def run(args: argparse.Namespace) -> int:
    """Draw one figure and say where it is."""
    from depthgauge.report.figures.style import FORMATS, file_of

    output = Path(args.output)
    kind = output.suffix[1:].lower()
    if kind not in FORMATS:
        suffixes = ", ".join(f".{known}" for known in FORMATS)
        raise UserError(f"{output} must end in one of {suffixes}")
    paths = [Path(name) for name in args.studies]
    figure = _ladders(paths) if args.figure == "ladder" else _figure(args.figure, paths[0])
    output.write_bytes(file_of(figure, kind))
    print(output)
    return 0


def _figure(name: str, path: Path) -> Figure:
    from depthgauge.report.figures.all import FIGURES as DRAWN

    return DRAWN[name].draw(_study(path, DRAWN[name].missing))


def _ladders(paths: list[Path]) -> Figure:
    from depthgauge.report.figures.ladder import draw_ladders, missing

    return draw_ladders(
        [_ladder(path) if path.is_file() else _study(path, missing).ladder() for path in paths]
    )


def _ladder(path: Path) -> Ladder:
    """A `ladder.json` that has runs."""
    from depthgauge.results.ladder import read_ladder

    ladder = read_ladder(path)
    if not ladder.rules:
        raise UserError(f"{path} has no finished runs, so there is no ladder to draw")
    return ladder


def _study(path: Path, missing: Missing) -> StudyResult:
    """A study, if it has what a figure needs."""
    from depthgauge.results.load import load

    study = load(path)
    if (why := missing(study)) is not None:
        raise UserError(f"{path} {why}")
    return study
