"""Commands of their own processes that wait in the middle of an epoch until they are let go on."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import psutil
from cli.commands import Done, complaints, run, start

from depthgauge.store.checkpoint import position_of

PATIENCE = 100  # seconds until a test gives up; a busy machine may be slow
WAITS_AT = (1, 3)
"""Epochs and steps behind every run that was asked to stop while it waited."""

RULES = '''
import os
import time
from pathlib import Path

from depthgauge.rules.dfa import DFA


class One(DFA):
    """Waits where a test told it to, in the middle of the second of three epochs."""

    name = "one"

    def credit(self, context):
        place = os.environ.get("TEST_WAITS_IN")
        if place and 0.49 < context.progress < 0.51:
            Path(place, f"{self.name}.{os.getpid()}").touch()
            give_up = time.monotonic() + 100
            while not Path(place, "go").exists() and time.monotonic() < give_up:
                time.sleep(0.01)
        return super().credit(context)


class Two(One):
    name = "two"
'''


def until(happened: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@dataclass
class Study:
    """A study of the embedded task with one or two cohorts, and a process that trains it."""

    parent: Path
    cohorts: int = 1
    name: str = "study"

    def __post_init__(self) -> None:
        self.folder, self.waits = self.parent / self.name, self.parent / "waits"
        self.waits.mkdir(exist_ok=True)
        self.processes: list[subprocess.Popen[str]] = []
        (self.parent / "waiting_rules.py").write_text(RULES)

    @property
    def command(self) -> list[object]:
        rules = [f"{self.parent}/waiting_rules.py:{name}" for name in ("One", "Two")]
        return [
            *("ladder", "--width", 8, "--depth", 1, "--rules", *rules[: self.cohorts]),
            *("--k", 0, 1, "--seeds", 1, "--epochs", 3, "--batch-size", 2000, "--threads", 1),
            *("--save-every", 10**6, "--no-twins", "--no-floors", "--out", self.folder, "--json"),
        ]

    def start(self, cores: int = 1, **options: object) -> subprocess.Popen[str]:
        """A process that trains, and will wait in the middle."""
        with patch.dict(os.environ, {"TEST_WAITS_IN": str(self.waits)}):
            process = start(
                *("-m", "depthgauge.cli.main", *self.command),
                cores=cores,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **options,
            )
        self.processes.append(process)
        return process

    def begin(self, cores: int = 1, **options: object) -> subprocess.Popen[str]:
        """A process that trains, waiting in the middle once it is there."""
        process = self.start(cores, **options)
        until(lambda: process.poll() is not None or len(self.waiting) >= min(cores, self.cohorts))
        assert process.poll() is None, process.communicate()
        return process

    @property
    def waiting(self) -> list[int]:
        """The processes that have come to where they wait."""
        return [int(path.suffix[1:]) for path in self.waits.glob("*.*")]

    def go(self) -> None:
        (self.waits / "go").touch()

    def end(self, process: subprocess.Popen[str]) -> Done:
        """Let it go on, and see how it ends."""
        self.go()
        out, err = process.communicate(timeout=PATIENCE)
        return Done(process.returncode, out, complaints(err))

    def leave_nothing_behind(self) -> None:
        """Worker processes end with the process that started them."""
        self.go()
        for process in self.processes:
            process.kill()
            process.communicate()

    def again(self) -> Done:
        """The same command, here and without waiting."""
        return run(*self.command)

    def positions(self) -> set[tuple[int, int] | None]:
        """Where the runs of the study are saved."""
        runs = [path.parent for path in self.folder.glob("runs/*/config.json")]
        return {position_of(path / "checkpoint.safetensors") for path in runs}

    def metrics(self) -> dict[str, bytes]:
        """Every epoch of every finished run, byte for byte."""
        done = self.folder.glob("runs/*/result.json")
        return {p.parent.name: p.with_name("metrics.jsonl").read_bytes() for p in done}
