"""`depthgauge null RUN`: compare a run's alignment with the alignment of fresh feedback."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from depthgauge.cli.arguments import whole
from depthgauge.cli.output import add_json_option, print_json
from depthgauge.errors import NotApplicableError

if TYPE_CHECKING:
    from depthgauge.gauges.null import CalibratedAlignment, NullReading


def add_null(parser: argparse.ArgumentParser) -> None:
    """Add the options of `null`."""
    parser.description = "Compare the alignment of the training feedback with that of fresh draws."
    parser.add_argument(
        "checkpoint",
        metavar="RUN|CHECKPOINT",
        help="a run's folder, or a .pt file with state_dict and Bs (feedback matrices)",
    )
    parser.add_argument(
        "--draws", type=whole(1), default=1000, help="number of draws of fresh feedback (1000)"
    )
    parser.add_argument(
        "--samples", type=whole(1), default=2048, help="number of test samples (2048)"
    )
    parser.add_argument("--task", help="the task (not needed for a run)")
    parser.add_argument(
        "--validation",
        type=whole(0),
        default=0,
        metavar="N",
        help="number of training samples that were held out, if the run's accuracy was measured "
        "on them",
    )
    parser.add_argument(
        "--rule", help="the rule, if the checkpoint does not name it: a name or file.py:Class"
    )
    parser.add_argument(
        "--convention",
        choices=["depthgauge", "published"],
        default="depthgauge",
        help="pair credit with the gradient that it estimates (depthgauge), or as in the published "
        "figures (published)",
    )
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Print the alignment of the training feedback beside the alignment of fresh feedback."""
    from depthgauge.json_values import plain_object

    try:
        reading = _calibrate(args)
    except NotApplicableError as error:
        missing = {"network": args.checkpoint, "null": "n/a", "reason": str(error)}
        print_json(missing) if args.json else print(f"n/a: {error}")
        return 0
    if args.json:
        print_json(plain_object({"network": args.checkpoint, "null": reading}))
    else:
        _print(reading, args.checkpoint)
    return 0


def _calibrate(args: argparse.Namespace) -> NullReading:
    from depthgauge.api import null
    from depthgauge.report.progress import show_progress

    done = 0
    with show_progress(args.draws, "drawing") as meter:

        def on_draws(draws: int) -> None:
            nonlocal done
            done += draws
            meter.at("fresh feedback", done)

        return null(
            args.checkpoint,
            draws=args.draws,
            samples=args.samples,
            task=args.task,
            rule=args.rule,
            validation=args.validation,
            convention=args.convention,
            on_draws=on_draws,
        )


def _print(reading: NullReading, network: str) -> None:
    from depthgauge.report.tables.table import make_table, numbers, words
    from depthgauge.report.writers.console import output
    from depthgauge.report.writers.terminal_table import terminal_table

    titles = ("Γ", "null mean", "null spread", "z", "p upper", "p two-sided")
    columns = [*words("layer"), *numbers(*titles), *words("reading")]
    rows = [
        *((f"block {i - 1}" if i else "embed", c) for i, c in enumerate(reading.per_layer)),
        ("all layers", reading.over_all),
        ("deep", reading.deep),
    ]
    console = output()
    console.print(
        f"{network}: {reading.measured_on}; convention {reading.convention}", markup=False
    )
    table = make_table("null", "", columns, [[name, *_cells(c)] for name, c in rows])
    console.print(terminal_table(table))


def _cells(calibrated: CalibratedAlignment) -> list[str]:
    numbers = (calibrated.observed, calibrated.mean, calibrated.spread)
    p_values = (calibrated.p_upper, calibrated.p_two_sided)
    return [
        *("–" if number is None else f"{number:+.4f}" for number in numbers),
        "–" if calibrated.z is None else f"{calibrated.z:+.2f}",
        *("–" if p is None else f"{p:.4f}" for p in p_values),
        calibrated.word,
    ]
