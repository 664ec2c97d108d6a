"""`depthgauge null RUN`: is the alignment the training feedback's own, or any feedback's?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.cli.options import add_validation, whole

if TYPE_CHECKING:
    from depthgauge.gauges.null import Calibrated


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `null` to the command line."""
    parser = subparsers.add_parser(
        "null",
        help="null calibration of Γ with fresh feedback",
        description="Compare the alignment of the training feedback with that of fresh draws.",
    )
    parser.add_argument(
        "checkpoint", metavar="RUN|CHECKPOINT", help="a run's folder, or a .pt with state_dict, Bs"
    )
    parser.add_argument("--draws", type=whole(1), default=1000, help="fresh feedbacks (1000)")
    parser.add_argument("--samples", type=whole(1), default=2048, help="test samples (2048)")
    parser.add_argument("--task", help="the task; a run knows its own")
    add_validation(parser)
    parser.add_argument("--rule", help="the rule, where it cannot be seen: a name or file.py:Class")
    parser.add_argument(
        "--convention",
        choices=["depthgauge", "published"],
        default="depthgauge",
        help="credit against the gradient it estimates, or paired as in published figures",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Calibrate and print."""
    from depthgauge.auditing.load_trained import load_trained
    from depthgauge.auditing.null import calibrate_null, reason_missing
    from depthgauge.auditing.trained import first_samples
    from depthgauge.cli.progress import study_progress
    from depthgauge.store.files import finite

    trained, task = load_trained(Path(args.checkpoint), args.task, args.rule, args.validation)
    reason = reason_missing(trained)
    document: dict[str, Any] = {"checkpoint": args.checkpoint, "task": task.name, "null": None}
    if reason is not None:
        document["null"] = "n/a"
        document["reason"] = reason.removeprefix("n/a: ")
        print(json.dumps(document, indent=2) if args.json else reason)
        return 0
    with study_progress(args.draws, "drawing") as progress:
        reading = calibrate_null(
            trained,
            first_samples(task, args.samples),
            args.draws,
            args.convention,
            lambda draws: progress.advance("fresh feedback", draws),
        )
    document |= {"rule": trained.rule.name if trained.rule else None, "null": asdict(reading)}
    if args.json:
        print(json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False))
        return 0
    rows = [
        *((f"block {i - 1}" if i else "embed", c) for i, c in enumerate(reading.per_layer)),
        ("all layers", reading.over_all),
        ("deep", reading.deep),
    ]
    _print(rows, f"{document['rule']}: {reading.measured_on}; convention {reading.convention}")
    return 0


def _print(rows: list[tuple[str, Calibrated]], title: str) -> None:
    from depthgauge.cli.console import output
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
