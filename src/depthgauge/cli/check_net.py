"""`depthgauge check-net NET`: say what depthgauge sees of a network, and what it can do with it."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout

from depthgauge.cli.arguments import whole
from depthgauge.cli.output import add_json_option, print_json


def add_check_net(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check-net`."""
    parser.description = (
        "Run a network on one batch, and say in words what depthgauge sees of it (blocks, stream, "
        "readout) and whether it can be trained, ladder-tested, diagnosed and resumed, and under "
        "which rules. The exit status is 0 if it can do all four, else 1."
    )
    parser.add_argument("net", metavar="NET", help="file.py:function that builds the network")
    parser.add_argument(
        "--blocks",
        metavar="PATH",
        help="path to the blocks, such as encoder.layers, encoder.layers[2:6] or stem,body.0 "
        "(found by trying)",
    )
    parser.add_argument("--task", help="name of a task or path of your .npz, for the samples")
    parser.add_argument(
        "--shape",
        type=whole(1),
        nargs="+",
        metavar="N",
        help="shape of one sample, such as 3 32 32 (guessed from the network's first layers)",
    )
    parser.add_argument(
        "--words",
        type=whole(1),
        metavar="N",
        help="with --shape: samples are tokens, whole numbers below N",
    )
    parser.add_argument(
        "--returns",
        choices=("auto", "stream", "branch"),
        default="auto",
        help="what the last block returns, if it cannot be told: the stream, or a branch that the "
        "network adds (auto)",
    )
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Print the answer; what the network itself prints goes to standard error."""
    from depthgauge.api import check_net
    from depthgauge.json_values import plain

    with redirect_stdout(sys.stderr):
        answer = check_net(
            args.net,
            blocks=args.blocks,
            task=args.task,
            shape=args.shape,
            words=args.words,
            returns=args.returns,
        )
    if args.json:
        print_json(plain(answer))
    else:
        print(answer)
    return 0 if answer.passed else 1
