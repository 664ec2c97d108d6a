"""Claims: files that say which process trains which cohort of a study.

A process claims the cohort NAME by making the file `NAME.1`, which only one process can make. If
the owner has died or released the claim, another process makes `NAME.2`, and so on; the newest
claim counts. Claims are removed only when the cohort is done. So two processes can never take over
the same dead claim, and no lock is needed that a network file system might break.
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
"""Seconds between two signs of life that an owner writes into its claim."""

DEAD_AFTER = 120.0
"""Seconds without a sign of life after which an owner on another machine counts as dead."""


class Progress(TypedDict, total=False):
    """The progress of a claimed cohort; a field is missing until the owner knows it."""

    label: str
    runs: int
    total: int
    """The number of steps of the whole training."""
    first: int
    """The number of steps that were done when the owner began."""
    epoch: int
    """The number of whole epochs that are done."""
    steps: int
    """The number of steps that are done."""
    seconds: float
    """The seconds since the owner began."""


class ClaimFile(BaseModel):
    """The content of a claim; the owner raises `beat` regularly, as a sign of life."""

    owner: Owner
    released: bool = False
    beat: int = 0
    progress: Progress = {}


class Claim:
    """A claim of this process on a cohort; `lost` is set once another process has taken over."""

    def __init__(self, path: Path, owner: Owner) -> None:
        self.path, self.lost = path, False
        self._content = ClaimFile(owner=owner)
        self._following = _follow(path)
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def keep_alive(self, progress: Callable[[], Progress], every: float = BEAT_EVERY) -> None:
        """Write the progress into the claim in a thread, until the claim is released.

        `every` is the number of seconds between two writes.
        """

        def beat() -> None:
            while not self._ended.wait(every):
                try:
                    self.beat(progress())
                except OSError:
                    continue  # a full disk does not end the work; losing the claim does

        self._thread = threading.Thread(target=beat, daemon=True)
        self._thread.start()

    def beat(self, progress: Progress) -> None:
        """Write a sign of life and the progress, or set `lost` if the claim was taken over."""
        with self._writing:
            if not self.is_held():
                self.lost = True
            elif not self._content.released:
                beat = self._content.beat + 1
                self._write(self._content.model_copy(update={"beat": beat, "progress": progress}))

    def is_held(self) -> bool:
        """Return whether this process still has the claim."""
        return self.path.exists() and not self._following.exists()

    def release(self) -> None:
        """Give up the claim, so that any process may claim the cohort at once."""
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
        """Replace the claim's file.

        The file is not forced onto the disk: a crash that loses the file also ends the owner.
        """
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        temporary.write_text(content.model_dump_json() + "\n", encoding="utf-8")
        os.replace(temporary, self.path)
        self._content = content

    def _write_over(self, content: ClaimFile) -> None:
        """Overwrite the claim's file in place, for a disk without room for a temporary file."""
        text = content.model_copy(update={"progress": {}}).model_dump_json().encode()
        with suppress(OSError), self.path.open("r+b") as handle:
            handle.write(text.ljust(self.path.stat().st_size))


class Claims:
    """The claims in one folder, as this process sees them.

    `clock` returns seconds; it measures how long an owner on another machine has been silent.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder, self._clock = folder, clock
        self._seen: dict[str, tuple[tuple[Path, int], float]] = {}

    def take(self, name: str) -> Claim | None:
        """Claim a cohort; return None if another process has it."""
        newest = self._newest(name)
        if newest is not None and not self._is_free(name, newest):
            return None
        path = _follow(newest) if newest is not None else self.folder / f"{name}.1"
        make_folder(self.folder)
        owner = this_process()
        content = ClaimFile(owner=owner).model_dump_json() + "\n"
        return Claim(path, owner) if create_exclusively(path, content) else None

    def holder(self, name: str) -> ClaimFile | None:
        """Return the claim on a cohort; None if no process holds the cohort.

        No process holds a cohort whose claim was released, or whose owner has ended. An owner on
        another machine counts as alive.
        """
        newest = self._newest(name)
        content = _read(newest) if newest is not None else None
        if content is None or content.released or content.owner.is_gone():
            return None
        return content

    def silent_for(self, name: str) -> float:
        """Return the seconds since the owner's last sign of life.

        The clock of the owner's machine set the time of the sign, so the clocks of both machines
        should agree.
        """
        newest = self._newest(name)
        try:
            return max(0.0, time.time() - newest.stat().st_mtime) if newest is not None else 0.0
        except FileNotFoundError:
            return 0.0

    def forget(self, name: str) -> None:
        """Remove all claims on a cohort whose runs are all done."""
        for path in sorted(self.folder.glob(f"{name}.*"), key=_generation, reverse=True):
            path.unlink(missing_ok=True)

    def tries(self, name: str) -> int:
        """Return how often a cohort has been claimed."""
        newest = self._newest(name)
        return 0 if newest is None else _generation(newest)

    def _newest(self, name: str) -> Path | None:
        newest, following = None, self.folder / f"{name}.1"
        while following.exists():
            newest, following = following, _follow(following)
        return newest

    def _is_free(self, name: str, path: Path) -> bool:
        """Return whether the owner has released the claim, ended, or been silent for too long."""
        content = _read(path)
        if content is not None and (content.released or content.owner.is_gone()):
            return True
        if content is not None and content.owner.is_gone() is False:
            return False
        sign = (path, content.beat if content is not None else -1)
        now = self._clock()
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
