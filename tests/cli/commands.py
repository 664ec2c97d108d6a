"""Running commands in the process of a test, and what bad input must look like."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import depthgauge
from depthgauge.cli.main import main

SMALL = (
    *("--task", "digits", "--width", "8", "--depth", "2", "--epochs", "1", "--threads", "1"),
    "--no-floors",
)

RULE_FILE = '''
"""Rules that somebody wrote for themselves."""

import torch

from depthgauge.rules.contract import Credit, Rule
from depthgauge.rules.dfa import DFA


class Mine(Rule):
    name = "mine"
    summary = "every block is told to shrink"

    def credit(self, context):
        return Credit(blocks=context.states[1:], embed=context.states[0])


class Broken(Mine):
    name = "broken"

    def credit(self, context):
        raise ZeroDivisionError("the author divided by zero")


class Exploding(DFA):
    name = "exploding"

    def credit(self, context):
        credit = super().credit(context)
        return Credit(blocks=[b * float("nan") for b in credit.blocks], embed=credit.embed)
'''


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document that it must be."""
        return json.loads(self.out)


def run(*arguments: object) -> Done:
    """`depthgauge arguments…`"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), own_logging():
        try:
            status: Any = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code or 0
    return Done(status, out.getvalue(), complaints(err.getvalue()))


@contextlib.contextmanager
def own_logging() -> Iterator[None]:
    """As in a process of its own: the command decides where warnings go."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def start(*arguments: object, cores: int = 1, **options: Any) -> subprocess.Popen[str]:
    """A Python process on so many cores, which finds the package wherever it is started.

    It hears Ctrl-C, also where the tests do not: a shell lets what it runs behind ignore it.
    """
    source = str(Path(depthgauge.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    with on_cores(cores):
        return subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": ""},
            text=True,
            **{"preexec_fn": hear_ctrl_c} | options,
        )


def hear_ctrl_c() -> None:
    """Let Ctrl-C interrupt this process, whatever it was started with."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def on_cores(count: int) -> Iterator[None]:
    """This process, and those it starts, may run on so many cores; pytest workers have others."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    cores = sorted(os.sched_getaffinity(0))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.sched_setaffinity(0, {cores[(worker + n) % len(cores)] for n in range(count)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def complaints(err: str) -> str:
    """What was said on standard error beside what is trained, and how far it is."""
    trained = r"^training \d+ (run|swap twin|confirming run|noise run)s? of \d+ epochs? .*\n?"
    progress = r"^(training|reading [^:\n]+): \d+ %.*\n?"
    return re.sub(f"{trained}|{progress}", "", err, flags=re.MULTILINE)


def run_apart(*arguments: object) -> tuple[Done, set[str]]:
    """`depthgauge arguments…` in a process of its own, and the modules that it loaded."""
    code = (
        "import atexit, sys\n"
        "from depthgauge.cli.main import main\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "sys.exit(main())"
    )
    pipe = subprocess.PIPE
    process = start("-c", code, *arguments, stdout=pipe, stderr=pipe)
    out, err = process.communicate(timeout=120)
    *said, modules = err.splitlines()
    return Done(process.returncode, out, complaints("\n".join(said))), set(modules.split())


def run_ladder(folder: Path, *more: object, rules: tuple[str, ...] = ("bp", "dfa")) -> Done:
    """The rungs of a ladder that takes a moment; later options replace earlier ones."""
    shared = (*SMALL, "--no-twins", "--seeds", 1, 2, "--out", folder, "--json")
    return run("ladder", *shared, "--rules", *rules, *more)


def write_rules(folder: Path) -> Path:
    path = folder / "my_rules.py"
    path.write_text(RULE_FILE)
    return path


def assert_bad_input(done: Done, *words: str) -> None:
    """Exit status 2, nothing on standard output, one sentence with `words` on standard error."""
    assert done.status == 2, done
    assert done.out == ""
    assert done.err.startswith("depthgauge: ")
    assert done.err.count("\n") == 1, done.err
    assert done.err.endswith("\n")
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
