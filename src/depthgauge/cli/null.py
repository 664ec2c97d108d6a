"""`depthgauge null RUN`: is the alignment the training feedback's own, or any feedback's?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from depthgauge.cli.numbers import whole

if TYPE_CHECKING:
    from depthgauge.gauges.null import Calibrated


DESCRIPTION = "Compare the alignment of the training feedback with that of fresh draws."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `null`."""
    parser.add_argument(
        "checkpoint", metavar="RUN|CHECKPOINT", help="a run's folder, or a .pt with state_dict, Bs"
    )
    parser.add_argument("--draws", type=whole(1), default=1000, help="fresh feedbacks (1000)")
    parser.add_argument("--samples", type=whole(1), default=2048, help="test samples (2048)")
    parser.add_argument("--task", help="the task; a run knows its own")
    parser.add_argument(
        "--validation",
        type=whole(0),
        default=0,
        metavar="N",
        help="training samples that were held out, where the run was judged on those",
    )
    parser.add_argument("--rule", help="the rule, where it cannot be seen: a name or file.py:Class")
    parser.add_argument(
        "--convention",
        choices=["depthgauge", "published"],
        default="depthgauge",
        help="credit against the gradient it estimates, or paired as in published figures",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Calibrate and print."""
    from depthgauge.api import null
    from depthgauge.errors import NotApplicableError
    from depthgauge.json_values import plain_object
    from depthgauge.report.progress import show_progress

    done = 0
    with show_progress(args.draws, "drawing") as meter:

        def on_draws(draws: int) -> None:
            nonlocal done
            done += draws
            meter.at("fresh feedback", done)

        try:
            reading = null(
                args.checkpoint,
                draws=args.draws,
                samples=args.samples,
                task=args.task,
                rule=args.rule,
                validation=args.validation,
                convention=args.convention,
                on_draws=on_draws,
            )
        except NotApplicableError as error:
            missing = {"network": args.checkpoint, "null": "n/a", "reason": str(error)}
            print(json.dumps(missing, indent=2) if args.json else f"n/a: {error}")
            return 0
    if args.json:
        document = plain_object({"network": args.checkpoint, "null": reading})
        print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
        return 0
    rows = [
        *((f"block {i - 1}" if i else "embed", c) for i, c in enumerate(reading.per_layer)),
        ("all layers", reading.over_all),
        ("deep", reading.deep),
    ]
    _print(rows, f"{args.checkpoint}: {reading.measured_on}; convention {reading.convention}")
    return 0


def _print(rows: list[tuple[str, Calibrated]], title: str) -> None:
    from depthgauge.report.console import output
    from depthgauge.report.table import terminal_table

    header = ["layer", "Γ", "null mean", "null spread", "z", "p upper", "p two-sided", "reading"]
    console = output()
    console.print(title, markup=False)
    console.print(terminal_table(header, [[name, *_cells(c)] for name, c in rows]))


def _cells(calibrated: Calibrated) -> list[str]:
    numbers = (calibrated.observed, calibrated.mean, calibrated.spread)
    p_values = (calibrated.p_upper, calibrated.p_two_sided)
    return [
        *("–" if number is None else f"{number:+.4f}" for number in numbers),
        "–" if calibrated.z is None else f"{calibrated.z:+.2f}",
        *("–" if p is None else f"{p:.4f}" for p in p_values),
        calibrated.word,
    ]
