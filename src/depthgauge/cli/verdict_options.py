"""Options about verdicts: thresholds, baselines that are given, the exit status."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from depthgauge.errors import UserError

if TYPE_CHECKING:
    from depthgauge.verdict.thresholds import Thresholds

WALKED_BACK = 3


def add_verdict_options(parser: argparse.ArgumentParser) -> None:
    """Where diagnostics fire, and whether a fired one is an exit status."""
    from depthgauge.verdict.thresholds import Thresholds

    parser.add_argument(
        "--threshold",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help=f"other thresholds than the protocol's: {', '.join(Thresholds())}",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with status 3 if a verdict is walk back"
    )


def build_thresholds(args: argparse.Namespace) -> Thresholds:
    """The protocol's thresholds, with those that were given."""
    from depthgauge.verdict.thresholds import thresholds_from

    return thresholds_from(_pairs("--threshold", args.threshold))


def frozen_accuracies(texts: Sequence[str]) -> dict[str, float]:
    """`METHOD=SHARE` for each method."""
    given = _pairs("--frozen-acc", texts)
    for method, share in given.items():
        if not 0 <= share <= 1:
            raise UserError(
                f"--frozen-acc {method}={share:g} is not a share from 0 to 1, such as 0.349"
            )
    return given


def _pairs(option: str, texts: Sequence[str]) -> dict[str, float]:
    pairs = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            pairs[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise UserError(f"{option} {text!r} must be written NAME=VALUE, with a number")
    return pairs


def strict_status(verdicts: Iterable[str], strict: bool) -> int:
    """3 if a verdict is *walk back* and that was asked for, else 0."""
    return WALKED_BACK if strict and "walk back" in verdicts else 0
