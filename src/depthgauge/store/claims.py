"""Claims: of all processes that work in one folder, which one trains which cohort.

A claim is a file that one process alone can make, `NAME.1`. A claim whose owner has died or let
go is never removed while others may look at it; it is followed by `NAME.2`, and the newest one
counts. So no two processes can take the same dead claim over, and no lock is needed that a network
file system might break.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from depthgauge.store.files import create_exclusively, make_folder
from depthgauge.store.owner import Owner, this_process

BEAT_EVERY = 2.0
"""Seconds between two signs of life."""

DEAD_AFTER = 120.0
"""Seconds without a sign of life after which an owner elsewhere is taken for dead."""


class Progress(TypedDict, total=False):
    """How far a claimed cohort is; what its owner has not counted yet is left out."""

    label: str
    runs: int
    total: int
    """Steps of the whole training."""
    first: int
    """Steps that were done when the owner began, `seconds` ago."""
    epoch: int
    """Whole epochs that are done."""
    steps: int
    """Steps that are done."""
    seconds: float


class ClaimFile(BaseModel):
    """What stands in a claim; `beat` grows as long as its owner lives."""

    owner: Owner
    released: bool = False
    beat: int = 0
    progress: Progress = {}


class Claim:
    """Held by this process until it is released; `lost` if others took it for dead."""

    def __init__(self, path: Path, owner: Owner) -> None:
        self.path, self.lost = path, False
        self._content = ClaimFile(owner=owner)
        self._following = _follow(path)
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def keep_alive(self, progress: Callable[[], Progress]) -> None:
        """Give a sign of life now and then, with how far the work is, until released."""

        def beat() -> None:
            while not self._ended.wait(BEAT_EVERY):
                try:
                    self.beat(progress())
                except OSError:
                    continue  # a full disk does not end the work; a claim grown old does

        self._thread = threading.Thread(target=beat, daemon=True)
        self._thread.start()

    def beat(self, progress: Progress) -> None:
        """One sign of life; finds out whether the claim was taken over."""
        with self._writing:
            if not self.is_held():
                self.lost = True
            elif not self._content.released:
                beat = self._content.beat + 1
                self._write(self._content.model_copy(update={"beat": beat, "progress": progress}))

    def is_held(self) -> bool:
        """Whether nobody has taken it over."""
        return self.path.exists() and not self._following.exists()

    def release(self) -> None:
        """Let go: whoever wants the work may have it at once."""
        self._ended.set()
        with self._writing:
            if not self.path.exists():
                return
            released = self._content.model_copy(update={"released": True})
            try:
                self._write(released)
            except OSError:
                self._write_over(released)

    def _write(self, content: ClaimFile) -> None:
        """Not synced: what a crash of the machine loses here is the owner's death."""
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        temporary.write_text(content.model_dump_json() + "\n", encoding="utf-8")
        os.replace(temporary, self.path)
        self._content = content

    def _write_over(self, content: ClaimFile) -> None:
        """Where there is no room for a file more: over the old one, and never longer than it."""
        text = content.model_copy(update={"progress": {}}).model_dump_json().encode()
        with suppress(OSError), self.path.open("r+b") as handle:
            handle.write(text.ljust(self.path.stat().st_size))


class Claims:
    """The claims in one folder, as one process sees them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, tuple[tuple[Path, int], float]] = {}

    def take(self, name: str) -> Claim | None:
        """Claim a piece of work; None if somebody has it."""
        newest = self._newest(name)
        if newest is not None and not self._is_free(name, newest):
            return None
        path = _follow(newest) if newest is not None else self.folder / f"{name}.1"
        make_folder(self.folder)
        owner = this_process()
        content = ClaimFile(owner=owner).model_dump_json() + "\n"
        return Claim(path, owner) if create_exclusively(path, content) else None

    def holder(self, name: str) -> ClaimFile | None:
        """Who has a piece of work, as far as is known; None if nobody has."""
        newest = self._newest(name)
        content = _read(newest) if newest is not None else None
        if content is None or content.released or content.owner.is_gone:
            return None
        return content

    def silent_for(self, name: str) -> float:
        """Seconds since the holder's last sign of life, by the clocks of both machines."""
        newest = self._newest(name)
        try:
            return max(0.0, time.time() - newest.stat().st_mtime) if newest is not None else 0.0
        except FileNotFoundError:
            return 0.0

    def forget(self, name: str) -> None:
        """Remove the claims on work that is done."""
        found = list(self.folder.glob(f"{name}.*"))
        for path in sorted(found, key=_generation, reverse=True):
            path.unlink(missing_ok=True)

    def tries(self, name: str) -> int:
        """How often a piece of work has been claimed."""
        newest = self._newest(name)
        return 0 if newest is None else _generation(newest)

    def _newest(self, name: str) -> Path | None:
        newest, following = None, self.folder / f"{name}.1"
        while following.exists():
            newest, following = following, _follow(following)
        return newest

    def _is_free(self, name: str, path: Path) -> bool:
        """Whether the owner let go, has ended, or gave no sign of life for long."""
        content = _read(path)
        if content is not None and (content.released or content.owner.is_gone):
            return True
        if content is not None and content.owner.is_gone is False:
            return False
        sign = (path, content.beat if content is not None else -1)
        now = time.monotonic()
        if name not in self._seen or self._seen[name][0] != sign:
            self._seen[name] = (sign, now)
        return now - self._seen[name][1] >= DEAD_AFTER


def _generation(path: Path) -> int:
    return int(path.name.rpartition(".")[2])


def _follow(path: Path) -> Path:
    name = path.name.rpartition(".")[0]
    return path.with_name(f"{name}.{_generation(path) + 1}")


def _read(path: Path) -> ClaimFile | None:
    try:
        return ClaimFile.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
