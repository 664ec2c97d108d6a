"""The functions that run on the nodes of a Ray cluster, and the actor that carries messages."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import ray
import torch

from depthgauge.errors import UserError, system_sentence
from depthgauge.scheduling.on_ray.file_transfer import ChangeSender, Files, Parcel, unpack
from depthgauge.scheduling.worker import Job, Worker
from depthgauge.store.study_folder import StudyFolder
from depthgauge.training.loop import StoppedEarlyError

ASK_EVERY = 1.0
"""Seconds between two times that a node asks the switchboard whether to stop."""

Outcome = Literal["ended", "stopped", "cannot see the folder"] | UserError


class Switchboard:
    """A Ray actor that passes stop requests to the nodes, and changed files back from the nodes."""

    def __init__(self) -> None:
        self._stopping = False
        self._arrived: list[tuple[str, Files]] = []

    def ask_to_stop(self) -> None:
        """Ask all workers to save and stop."""
        self._stopping = True

    def is_stopping(self) -> bool:
        """Return whether the workers should stop."""
        return self._stopping

    def put(self, cohort: str, files: Files) -> None:
        """Store the changed files of a cohort until `take` is called."""
        self._arrived.append((cohort, files))

    def take(self) -> list[tuple[str, Files]]:
        """Return the files that were put since the last call, each with the cohort's name."""
        arrived, self._arrived = self._arrived, []
        return arrived


class StopPoll:
    """Asks the switchboard in a thread whether to stop; so training never waits for the answer."""

    def __init__(self, switchboard: Any) -> None:
        self._switchboard, self._ended = switchboard, threading.Event()
        self._stopping = bool(ray.get(switchboard.is_stopping.remote()))
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        while not self._stopping and not self._ended.wait(ASK_EVERY):
            try:
                self._stopping = ray.get(self._switchboard.is_stopping.remote())
            except ray.exceptions.ActorUnavailableError:
                continue
            except ray.exceptions.RayError:
                self._stopping = True

    def end(self) -> None:
        """Stop asking the switchboard."""
        self._ended.set()

    def __call__(self) -> bool:
        """Return whether training should stop at the next step."""
        return self._stopping


def train_in_folder(job: Job, marker: Path, switchboard: Any) -> Outcome:
    """Train into the study's folder, if the file `marker` in it is visible on this node."""
    if not marker.exists():
        return "cannot see the folder"
    return _work(job, switchboard)


def train_parcel(job: Job, parcel: Parcel, switchboard: Any) -> Outcome:
    """Train a cohort that came in a parcel, and send the changed files back."""
    (cohort,) = parcel.plan.cohorts
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as place:
        folder = Path(place) / job.folder.name
        sender = ChangeSender(
            unpack(parcel, folder),
            cohort,
            lambda files: ray.get(switchboard.put.remote(cohort.name, files)),
        )
        try:
            return _work(replace(job, folder=folder), switchboard)
        finally:
            sender.end()


def _work(job: Job, switchboard: Any) -> Outcome:
    torch.set_num_threads(job.threads)
    stop = StopPoll(switchboard)
    try:
        Worker(job, StudyFolder(job.folder), stop).work()
    except StoppedEarlyError:
        return "stopped"
    except UserError as error:
        return error
    except OSError as error:
        return UserError(system_sentence(error))
    finally:
        stop.end()
    return "ended"
