"""A small study whose rules stop it, or fail, when a test says so in the environment."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from unittest.mock import patch

from cli.audits import read
from cli.commands import Done, run

STOPPED_AT, SAVED_BEFORE = (1, 2), (1, 1)
"""Epochs and steps behind every run of a study that was stopped, in its two checkpoints."""

STOPPED = 128 + signal.SIGTERM
EPOCHS = 3

RULES = """
import os
import signal

from depthgauge.rules.dfa import DFA


class Stops(DFA):
    name = "stops"

    def credit(self, context):
        if context.progress > 0.4 and os.environ.pop("TEST_STOPS", None):
            os.kill(os.getpid(), signal.SIGTERM)
        return super().credit(context)


class Raises(DFA):
    name = "raises"

    def credit(self, context):
        if os.environ.get("TEST_RAISES"):
            raise ZeroDivisionError("the author divided by zero")
        return super().credit(context)
"""


def write_stopping_rules(folder: Path) -> Path:
    path = folder / "stopping_rules.py"
    path.write_text(RULES)
    return path


def command(rules: Path, folder: Path, *names: str) -> list[object]:
    """Two runs, k = 1 and 0, for each rule; saved after every step, of which an epoch has three."""
    typed = [f"{rules}:{name}" if name[0].isupper() else name for name in names or ("Stops",)]
    return [
        *("ladder", "--task", "digits", "--width", 6, "--depth", 1, "--rules", *typed),
        *("--k", 0, 1, "--seeds", 1, "--epochs", EPOCHS, "--batch-size", 500, "--threads", 1),
        *("--save-every", 0, "--no-twins", "--no-floors", "--out", folder, "--json"),
    ]


def run_stopped(*arguments: object) -> Done:
    """A command that is asked to stop in the middle of the second epoch."""
    with patch.dict(os.environ, {"TEST_STOPS": "1"}):
        return run(*arguments)


def run_raising(*arguments: object) -> Done:
    """A command during which one rule raises an error."""
    with patch.dict(os.environ, {"TEST_RAISES": "1"}):
        return run(*arguments)


def results(study: Path) -> list[Path]:
    return sorted(study.glob("runs/*/result.json"))


def resumed_from(study: Path) -> list[list[int] | None]:
    """Where the runs that are done last went on from."""
    return [read(path)["provenance"]["resumed_from"] for path in results(study)]
