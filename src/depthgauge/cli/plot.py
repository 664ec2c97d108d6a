"""`depthgauge plot`: figures from studies, without training anything and without a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from depthgauge.report.figures.all import Missing
    from depthgauge.studies.gathered import Gathered
    from depthgauge.studies.rule_views import RuleView

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

    study, views = _study(path, DRAWN[name].missing)
    return DRAWN[name].draw(study, views)


def _ladders(paths: list[Path]) -> Figure:
    from depthgauge.report.figures.ladder import draw_panels, missing
    from depthgauge.report.figures.ladder_panel import panel_of_file, panel_of_study

    return draw_panels(
        [
            panel_of_file(path) if path.is_file() else panel_of_study(*_study(path, missing))
            for path in paths
        ]
    )


def _study(path: Path, missing: Missing) -> tuple[Gathered, list[RuleView]]:
    """A study, if it has what a figure needs."""
    from depthgauge.studies.gathered import gather
    from depthgauge.studies.rule_views import rule_views

    study = gather(path)
    views = rule_views(study)
    if (why := missing(study, views)) is not None:
        raise UserError(f"{path} {why}")
    return study, views
