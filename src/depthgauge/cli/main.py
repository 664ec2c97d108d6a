"""`depthgauge`: parses, calls, and turns errors into one sentence and an exit status."""

from __future__ import annotations

import argparse
import gc as garbage
import io
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from depthgauge import __version__
from depthgauge.cli import (
    audit,
    check_rule,
    compare,
    data,
    diagnose,
    export,
    gc,
    identity,
    ladder,
    lists,
    new_rule,
    null,
    plot,
    report,
    reproduce,
    resume,
    run,
    show,
    status,
)
from depthgauge.errors import StoppedError, UserError, system_sentence

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
SIGNALLED = 128

GARBAGE_AFTER = 50_000
"""New objects after which Python looks for cycles: large plans make many objects and no cycles."""


class Parser(argparse.ArgumentParser):
    """argparse, with errors as one sentence and options written out in full."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False} | kwargs)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is."""
        raise UserError(f"{message}; `{self.prog} --help` shows what is possible")


def build_parser() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="depthgauge",
        description="Does a learning rule train a network's depth, or do its deep blocks idle?",
    )
    parser.add_argument("--version", action="version", version=f"depthgauge {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in (audit, ladder, report, null, diagnose, identity, reproduce, plot, data, lists):
        module.add_parser(commands)
    for module in (run, status, resume, show, compare, export, gc, new_rule, check_rule):
        module.add_parser(commands)
    return parser


def collect_garbage_seldom() -> None:
    """Studies are many small objects that stay."""
    garbage.set_threshold(GARBAGE_AFTER, 50, 50)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0 done, 1 a run failed, 2 bad input, 3 walked back."""
    logging.basicConfig(format="depthgauge: %(message)s", level=logging.WARNING)
    collect_garbage_seldom()
    try:
        args = build_parser().parse_args(argv)
        _let_any_terminal_print(getattr(args, "json", False))
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (UserError, OSError, StoppedError, KeyboardInterrupt) as error:
        sentence, status = _explained(error)
        print(f"depthgauge: {sentence}", file=sys.stderr)
    return status


def _let_any_terminal_print(as_json: bool) -> None:
    """Signs that standard output cannot encode are replaced; in JSON they are escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace" if as_json else "replace")


def _explained(error: BaseException) -> tuple[str, int]:
    """One sentence, and the exit status that goes with it."""
    if isinstance(error, StoppedError):
        words = "stopped, and everything is saved; the same command goes on from here"
        return words, SIGNALLED + error.signal
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; the same command goes on from the last checkpoint", INTERRUPTED
    return system_sentence(error) if isinstance(error, OSError) else str(error), BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
