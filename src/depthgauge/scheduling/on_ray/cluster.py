"""Train on a Ray cluster: each cohort is a Ray task. All executors run the same worker.

A node that shares the study's folder writes into the folder itself. Any other node gets the
cohort's files in a parcel, and sends changed files back while it trains. The process that started
the tasks writes the changed files into the folder.
"""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from depthgauge.errors import UserError, one_line
from depthgauge.scheduling.interrupt import Interrupt
from depthgauge.scheduling.local import OnLook, conclude
from depthgauge.scheduling.memory_estimate import planned_bytes
from depthgauge.scheduling.on_ray.file_transfer import Files, deliver, pack
from depthgauge.scheduling.on_ray.tasks import Switchboard, train_in_folder, train_parcel
from depthgauge.scheduling.worker import CohortProgress, Job
from depthgauge.store.claims import Claim
from depthgauge.store.plan_files import CohortPlan
from depthgauge.store.run_folder import newest_common_position
from depthgauge.store.study_folder import StudyFolder
from depthgauge.tasks.base import Task
from depthgauge.tasks.registry import load_task

LOOK_EVERY = 0.5
"""Seconds between two checks of the tasks."""

GIGABYTE = 1e9

ANSWER_WITHIN = 10.0
"""Seconds within which the host of a cluster must answer."""

TRIES = 5
"""The number of times that a cohort is sent again after its worker or node died."""


def run_on_ray(
    job: Job, study: StudyFolder, address: str | None, interrupt: Interrupt, on_look: OnLook
) -> None:
    """Train the job on the Ray cluster at `address`.

    If `address` is None, use the cluster of this machine, and start one if none runs.
    """
    with _connected(address), _explained(), _marker_in(study) as marker:
        interrupt.listen()  # Ray has installed its own handlers
        tasks = _Tasks(job, study, marker)
        tasks.submit_all()
        while tasks.pending:
            tasks.look()
            on_look()
            if interrupt():
                tasks.ask_to_stop()
    conclude(job, study, tasks.said, interrupt)


class _Tasks:
    """The Ray tasks of a job, one for each cohort; `said` has the errors to report."""

    def __init__(self, job: Job, study: StudyFolder, marker: Path) -> None:
        self._job, self._study, self._marker = job, study, marker
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        needs = {"num_cpus": job.threads, "num_gpus": int(job.device.startswith("cuda"))}
        self._train = ray.remote(max_retries=TRIES, **needs)(train_in_folder)
        self._train_parcel = ray.remote(max_retries=0, **needs)(train_parcel)
        self._switchboard: Any = (
            ray.remote(num_cpus=0)(Switchboard).options(scheduling_strategy=here).remote()
        )
        self._claims: dict[str, Claim] = {}
        self._sent: Counter[str] = Counter()
        self._progress: dict[str, CohortProgress] = {}
        self._tasks: dict[tuple[str, int], Task] = {}
        self.pending: dict[Any, CohortPlan] = {}
        self.said: list[str] = []

    def submit_all(self) -> None:
        for cohort in self._study.plan_files.read().resolve(self._job.cohorts):
            own = replace(self._job, cohorts=(cohort.name,))
            train = self._train.options(memory=self._memory_of(cohort))
            self.pending[train.remote(own, self._marker, self._switchboard)] = cohort

    def look(self) -> None:
        """Write the files that nodes have sent back, and handle the tasks that have ended."""
        ready, _ = ray.wait(list(self.pending), timeout=LOOK_EVERY)
        self._write_arrived()
        for reference in ready:
            cohort = self.pending.pop(reference)
            self._conclude(cohort, self._outcome(reference, cohort))

    def ask_to_stop(self) -> None:
        ray.get(self._switchboard.ask_to_stop.remote())

    def _outcome(self, reference: Any, cohort: CohortPlan) -> Any:
        try:
            return ray.get(reference)
        except ray.exceptions.RayError as error:
            raised = isinstance(error, ray.exceptions.RayTaskError)
            if not raised and 0 < self._sent[cohort.name] <= TRIES:
                return "died"
            return UserError(f"{cohort.label}: {one_line(error)}")

    def _conclude(self, cohort: CohortPlan, outcome: Any) -> None:
        if outcome == "cannot see the folder":
            self._claim_and_send(cohort)
            return
        self._write_arrived()
        if outcome == "died":
            self._send(cohort)
            return
        if cohort.name in self._claims:
            self._claims.pop(cohort.name).release()
        if not self._study.open_runs(cohort):
            self._study.claims.forget(cohort.name)
        if isinstance(outcome, UserError):
            self.said.append(str(outcome))

    def _claim_and_send(self, cohort: CohortPlan) -> None:
        """Claim a cohort for this process and send it, unless another command has claimed it."""
        claim = self._study.claims.take(cohort.name)
        if claim is None:
            self.said.append(
                f"{cohort.label} is being trained by another command; wait for its end, then run "
                "this command again"
            )
            return
        self._claims[cohort.name] = claim
        steps = self._study.plan_files.read().steps_of(cohort)
        progress = CohortProgress(cohort, len(cohort.runs), cohort.recipe.epochs * steps)
        self._progress[cohort.name] = progress
        claim.keep_alive(progress.measure)
        self._send(cohort)

    def _send(self, cohort: CohortPlan) -> None:
        """Send a cohort to a node, with the present files of its runs."""
        self._sent[cohort.name] += 1
        own = replace(self._job, cohorts=(cohort.name,))
        parcel = ray.put(pack(self._study, cohort))
        train = self._train_parcel.options(memory=self._memory_of(cohort))
        self.pending[train.remote(own, parcel, self._switchboard)] = cohort

    def _memory_of(self, cohort: CohortPlan) -> int:
        """Return the bytes that a cohort needs on a node; refuse a cohort that fits on no node."""
        typed = self._study.plan_files.read().task_of(cohort)
        if typed not in self._tasks:
            self._tasks = {typed: load_task(*typed)}
        needed = planned_bytes(cohort, self._tasks[typed])
        _check_a_node_is_enough(self._job, cohort, needed)
        return needed

    def _write_arrived(self) -> None:
        arrived: list[tuple[str, Files]] = ray.get(self._switchboard.take.remote())
        plan = self._study.plan_files.read()
        for name, files in arrived:
            cohort = plan.cohorts[name]
            deliver(self._study, cohort, files)
            folders = [self._study.run(config) for config in cohort.configs]
            epoch, step = newest_common_position(folders) or (0, 0)
            self._progress[name].on_step(epoch, epoch * plan.steps_of(cohort) + step)


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster for the `with` block; stop it at the end if this call started it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    _check_host_answers(address or os.environ.get("RAY_ADDRESS", ""))
    try:
        ray.init(address=address, include_dashboard=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UserError(
            f"no Ray cluster can be reached: {one_line(error)}; if the cluster asks for a token, "
            "set RAY_AUTH_MODE=token"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_host_answers(address: str) -> None:
    """Refuse HOST:PORT at which nothing listens; Ray itself would try for a quarter of an hour."""
    try:
        place = urlsplit(address if "://" in address else f"//{address}")
        host, port = place.hostname, place.port
    except ValueError as error:
        raise UserError(f"--address {address} cannot be read: {error}; give HOST:PORT") from error
    if host is None or port is None:  # an address such as `auto`, which Ray looks up itself
        return
    try:
        socket.create_connection((host, port), ANSWER_WITHIN).close()
    except OSError as error:
        raise UserError(
            f"no Ray cluster can be reached at {address}: {error.strerror or error}; give the "
            "HOST:PORT that `ray start --head` printed"
        ) from error


@contextmanager
def _explained() -> Iterator[None]:
    """Turn an error of Ray inside the `with` block into a UserError."""
    try:
        yield
    except ray.exceptions.RayError as error:
        raise UserError(
            f"the Ray cluster failed: {one_line(error)}; run the same command again to continue "
            "from the last checkpoint"
        ) from error


@contextmanager
def _marker_in(study: StudyFolder) -> Iterator[Path]:
    """Create a file for the `with` block; a node that sees the file shares the study's folder."""
    marker = study.path.resolve() / f".shared-{uuid.uuid4().hex}"
    marker.touch()
    try:
        yield marker
    finally:
        marker.unlink(missing_ok=True)


def _check_a_node_is_enough(job: Job, cohort: CohortPlan, memory: int) -> None:
    """Refuse a cohort that fits on no node, since its task would wait for ever."""
    gpus = int(job.device.startswith("cuda"))
    needs = {"CPU": job.threads, "GPU": gpus, "memory": memory}
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(all(node.get(kind, 0) >= need for kind, need in needs.items()) for node in nodes):
        raise UserError(
            f"{cohort.label} needs {job.threads} CPUs, {gpus} GPUs and {memory / GIGABYTE:.1f} GB, "
            "and no node of the cluster has that much; change --threads, --device or --cohort"
        )
