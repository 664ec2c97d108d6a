"""`depthgauge`: parse the command line, run the command, and print an error as one sentence."""

from __future__ import annotations

import argparse
import gc as garbage
import io
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from depthgauge import __version__
from depthgauge.errors import StoppedError, UserError, system_sentence

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
SIGNALLED = 128

GARBAGE_AFTER = 50_000
"""New objects after which Python's garbage collector runs.

Python's own threshold is much lower, which makes large plans slow: they have many objects and no
cycles.
"""

COMMANDS = {
    "audit": "the main command: train every rule, read every diagnostic, print the verdicts",
    "ladder": "measure accuracy over the number of trained blocks",
    "report": "write a study as one self-contained HTML page",
    "null": "compare the alignment Γ with that of fresh feedback",
    "diagnose": "read every diagnostic of one trained network",
    "identity": "measure how close the untrained blocks are to the identity",
    "reproduce": "repeat a published experiment, and compare with the published figures",
    "plot": "draw figures from studies: .png, .svg or .pdf",
    "compare": "compare several studies, with differences paired by seed",
    "export": "write all runs and epochs of a study as one table",
    "show": "print all that is known about a run: configuration, result, provenance",
    "status": "count the runs of a study that are finished, running, failed, stopped or waiting",
    "run": "train the study that a .toml or .yaml file describes (`depthgauge schema`)",
    "schema": "print the JSON schema of study files",
    "resume": "train the remaining runs of a study; needs only its folder",
    "retry": "train the failed runs of a study again",
    "gc": "show the files that a study no longer needs; with --delete, delete them",
    "data": "download and verify a data set",
    "rules": "list the rules",
    "nets": "list the networks",
    "tasks": "list the tasks",
    "new-rule": "write a file with a working rule, from which to make your own",
    "check-net": "say what depthgauge sees of a network, and what it can do with it",
    "check-rule": "check on tiny networks whether a rule keeps its contract, in seconds",
}
"""Every command, with its line in `--help`.

The command `new-rule` is in the module `new_rule`, whose function `add_new_rule` adds the options
to a parser and sets the default `run` to the function that executes the command.
"""

MODULES = {"schema": "run", "retry": "resume", "rules": "lists", "nets": "lists", "tasks": "lists"}
"""The modules of commands whose module has another name."""


class Parser(argparse.ArgumentParser):
    """An argument parser with errors of one sentence, and without abbreviated options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False} | kwargs)

    def error(self, message: str) -> NoReturn:
        """Raise a UserError that says what is wrong and how to get help."""
        raise UserError(f"{message}; `{self.prog} --help` lists the options")


def build_parser(only: str | None = None) -> Parser:
    """Return the parser of the command line.

    If `only` names a command, the other commands get no options, and their modules are not
    imported.
    """
    parser = Parser(
        prog="depthgauge",
        description="Does a learning rule train a network's depth, or do its deep blocks idle?",
    )
    parser.add_argument("--version", action="version", version=f"depthgauge {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if only not in (None, name):
            commands.add_parser(name, help=summary)
            continue
        identifier = name.replace("-", "_")
        module = import_module(f"depthgauge.cli.{MODULES.get(name, identifier)}")
        getattr(module, f"add_{identifier}")(commands.add_parser(name, help=summary))
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    The exit status is one of these:

    - 0: done.
    - 1: a run failed or diverged, or a check failed.
    - 2: the input is bad, or the system refused to read or write a file.
    - 3: the user gave `--strict`, and a verdict is bad.
    - 130: the user interrupted the command.
    - 141: the reader of the output closed it.
    - 128 + n: signal n stopped training.
    """
    logging.basicConfig(format="depthgauge: %(message)s", level=logging.WARNING)
    garbage.set_threshold(GARBAGE_AFTER, 50, 50)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        args = build_parser(_command(arguments)).parse_args(arguments)
        _replace_unprintable(getattr(args, "json", False))
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (UserError, OSError, StoppedError, KeyboardInterrupt) as error:
        sentence, status = _explain(error)
        print(f"depthgauge: {sentence}", file=sys.stderr)
    return status


def _command(arguments: Sequence[str]) -> str:
    """Return the command in the arguments; an empty text if there is none."""
    return next((word for word in arguments if word in COMMANDS), "")


def _replace_unprintable(as_json: bool) -> None:
    """Let standard output write `?` for a character that it cannot encode, or an escape in JSON."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace" if as_json else "replace")


def _explain(error: BaseException) -> tuple[str, int]:
    """Return an error as one sentence, and its exit status."""
    if isinstance(error, StoppedError):
        words = "stopped, and everything is saved; run the same command again to continue"
        return words, SIGNALLED + error.signal
    if isinstance(error, KeyboardInterrupt):
        return (
            "interrupted; run the same command again to continue from the last checkpoint",
            INTERRUPTED,
        )
    return system_sentence(error) if isinstance(error, OSError) else str(error), BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
