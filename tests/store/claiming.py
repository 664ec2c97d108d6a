"""Owners of claims that are not this process, and processes that claim."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import depthgauge
from depthgauge.store.claims import ClaimFile
from depthgauge.store.owner import Owner, this_process

CLAIMING = """
import sys
from pathlib import Path
from depthgauge.store.claims import Claims
claims = Claims(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for name in sys.argv[2:]:
    if claims.take(name) is not None:
        print(name, flush=True)
print("done", flush=True)
sys.stdin.readline()
"""


def ended_owner() -> Owner:
    """A process of this machine that has ended."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return this_process().model_copy(update={"pid": process.pid})


def elsewhere() -> Owner:
    """A process on another machine."""
    return this_process().model_copy(update={"host": "other", "place": "other 1 pid:[2]"})


def put_claim(folder: Path, name: str, owner: Owner, beat: int = 0) -> Path:
    """A claim that `owner` has made; written again, a sign of life."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.1"
    path.write_text(ClaimFile(owner=owner, beat=beat).model_dump_json() + "\n")
    return path


class Claiming:
    """A process that claims `names` when it is told to, and holds them until it is ended."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        source = str(Path(depthgauge.__file__).parent.parent)
        self._process = subprocess.Popen(
            [sys.executable, "-c", CLAIMING, str(folder), *names],
            env=os.environ | {"PYTHONPATH": source},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self._line() == "ready"

    def claim(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def claimed(self) -> list[str]:
        """What it got."""
        return list(iter(self._line, "done"))

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process ended"
        return line.strip()
