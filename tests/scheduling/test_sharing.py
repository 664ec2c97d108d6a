"""Processes started at once on one folder share the work: nothing is trained twice."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from unittest.mock import patch

import pytest
from cli.commands import complaints, start
from scheduling.small_grids import outcome
from scheduling.small_jobs import again_from_scratch, prepare, work

PATIENCE = 300  # seconds until a test gives up; a busy machine may be slow

RULES = '''
import os
import time
from pathlib import Path

from depthgauge.rules.dfa import DFA


class Logged(DFA):
    """Writes down which process begins a run, and waits until all processes have begun one."""

    def feedback(self, net, generator):
        place = os.environ.get("TEST_LOG")
        if place:
            log = Path(place)
            with log.open("a") as handle:
                handle.write(f"{self.name} {os.getpid()}\\n")
            give_up = time.monotonic() + 300
            wanted = int(os.environ["TEST_PROCESSES"])
            while time.monotonic() < give_up:
                if len({line.split()[1] for line in log.read_text().splitlines()}) >= wanted:
                    break
                time.sleep(0.01)
        return super().feedback(net, generator)


class A(Logged):
    name = "a"


class B(Logged):
    name = "b"


class C(Logged):
    name = "c"


class D(Logged):
    name = "d"
'''

AT_ONCE = """
import sys
import depthgauge.scheduling.local, depthgauge.scheduling.cohorts
from depthgauge.cli.main import main
print("ready", flush=True)
sys.stdin.readline()
sys.exit(main(sys.argv[1:]))
"""


class Processes:
    """Commands in processes of their own that all begin at the same moment."""

    def __init__(self, log: Path) -> None:
        self.log, self.processes = log, list[Popen[str]]()

    def run(self, *commands: list[object]) -> list[int]:
        """Their exit statuses."""
        told = {"TEST_LOG": str(self.log), "TEST_PROCESSES": str(len(commands))}
        with patch.dict(os.environ, told):
            for command in commands:
                options = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
                self.processes.append(start("-c", AT_ONCE, *command, **options))
        for process in self.processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        said = [process.communicate(timeout=PATIENCE) for process in self.processes]
        assert all(complaints(err) == "" for _, err in said), said
        return [process.returncode for process in self.processes]

    def begun(self) -> Counter[str]:
        """By rule, how many runs were begun."""
        return Counter(line.split()[0] for line in self.log.read_text().splitlines())

    def who(self) -> set[str]:
        """The processes that began any."""
        return {line.split()[1] for line in self.log.read_text().splitlines()}


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(tmp_path / "log.txt")
    yield processes
    for process in processes.processes:
        process.kill()
        process.communicate()


@pytest.fixture
def rules(tmp_path: Path) -> list[str]:
    path = tmp_path / "logged.py"
    path.write_text(RULES)
    return [f"{path}:{name}" for name in "ABCD"]


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_the_same_command_several_times_at_once(tmp_path, processes, rules, count):
    job = prepare(tmp_path / "study", *rules, seeds=(1, 2))
    commands = [["resume", job.folder] for _ in range(count)]
    assert processes.run(*commands) == [0] * count
    assert processes.begun() == {"a": 4, "b": 4, "c": 4, "d": 4}
    assert len(processes.who()) == count
    work(again_from_scratch(job, tmp_path / "alone"))
    assert len(outcome(job.folder)) == 16
    assert outcome(job.folder) == outcome(tmp_path / "alone")
    assert list((job.folder / "claims").iterdir()) == []


@pytest.mark.slow
def test_different_commands_that_overlap_on_a_new_folder(tmp_path, processes, rules):
    a, b, c, _ = rules
    shared = ["--width", 8, "--depth", 1, "--epochs", 2, "--batch-size", 2000, "--threads", 1]
    shared.append("--no-floors")
    commands = [
        ["ladder", *shared, "--seeds", 1, "--out", tmp_path / "study", "--rules", *own, "--json"]
        for own in ((a, b), (b, c))
    ]
    assert processes.run(*commands) == [0, 0]
    assert processes.begun() == {"a": 2, "b": 2, "c": 2}
    assert len(outcome(tmp_path / "study")) == 6
