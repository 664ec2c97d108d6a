"""Send a cohort to a node that cannot see the study's folder, and get its files back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.registry import file_of, in_file
from depthgauge.store.files import write_bytes
from depthgauge.store.plan_files import CohortPlan, PlanFile, PlannedRule
from depthgauge.store.run_paths import NAMES, RESULT
from depthgauge.store.study_folder import StudyFolder

Files = dict[str, bytes]
"""The contents of files by the run's identity and the file's name: `identity/metrics.jsonl`."""

SEND_EVERY = 10.0
"""Seconds between two deliveries of changed files."""


@dataclass(frozen=True)
class Parcel:
    """All that a node needs to train a cohort.

    Attributes:
        study: the content of `study.json`.
        plan: the plan of this cohort alone.
        rules: the contents of the users' rule files, by the text for the rule.
        files: the present files of the cohort's runs.
    """

    study: bytes
    plan: PlanFile
    rules: Mapping[str, bytes]
    files: Files


def pack(study: StudyFolder, cohort: CohortPlan) -> Parcel:
    """Return the parcel of one cohort."""
    plan = study.plan_files.read()
    rules = {}
    for rule in cohort.rules:
        path = file_of(rule.typed)
        if path is not None:
            rules[rule.typed] = path.read_bytes()
    files: Files = {}
    for config in cohort.configs:
        files |= _files_of(study.run(config).path)
    alone = plan.file_of(cohort).with_cohorts([cohort])
    return Parcel(study.study_path.read_bytes(), alone, rules, files)


def unpack(parcel: Parcel, folder: Path) -> StudyFolder:
    """Write a parcel as the folder of a study, with the users' rule files in it."""
    study = StudyFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    study.study_path.write_bytes(parcel.study)
    (cohort,) = parcel.plan.cohorts
    rules = [_beside(rule, parcel.rules.get(rule.typed), folder) for rule in cohort.rules]
    local = cohort.changed(rules=tuple(rules))
    study.plan_files.add(study.plan_files.read(), parcel.plan.with_cohorts([local]))
    deliver(study, cohort, parcel.files)
    return study


def deliver(study: StudyFolder, cohort: CohortPlan, files: Files) -> None:
    """Write files that were sent into the folders of the cohort's runs, results last.

    Runs that are done already are not changed.
    """
    known = set(cohort.identities)
    done = {identity for identity in known if study.is_done(identity)}
    for place in files:
        identity, _, name = place.partition("/")
        if identity not in known or name not in NAMES:
            raise UserError(f"the file {place!r} does not belong to the cohort {cohort.name}")
    for place in sorted(files, key=lambda place: place.endswith(RESULT)):
        path = study.runs / place
        if path.parent.name not in done:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, files[place])


class ChangeSender:
    """Sends the changed files of a cohort's runs every few seconds, until `end` is called."""

    def __init__(
        self, study: StudyFolder, cohort: CohortPlan, send: Callable[[Files], None]
    ) -> None:
        self._study, self._cohort, self._send = study, cohort, send
        self._sent: Files = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def _go(self) -> None:
        while not self._ended.wait(SEND_EVERY):
            self.send_changes()

    def end(self) -> None:
        """Stop the thread and send the last changes."""
        self._ended.set()
        self._thread.join()
        self.send_changes()

    def send_changes(self) -> None:
        """Send the files that have changed since they were sent."""
        now: Files = {}
        for config in self._cohort.configs:
            now |= _files_of(self._study.run(config).path)
        changed = {place: data for place, data in now.items() if self._sent.get(place) != data}
        if changed:
            self._send(changed)
            self._sent |= changed


def _files_of(run: Path) -> Files:
    """Return the files of a run; the result is read first, since files beside it are final."""
    found: Files = {}
    for name in reversed(NAMES):
        try:
            found[f"{run.name}/{name}"] = (run / name).read_bytes()
        except FileNotFoundError:
            continue
    return found


def _beside(rule: PlannedRule, source: bytes | None, folder: Path) -> PlannedRule:
    """Return the rule; if it came in a file, write the file beside the study and name that."""
    path = file_of(rule.typed)
    if source is None or path is None:
        return rule
    local = folder / "rules" / path.name
    local.parent.mkdir(exist_ok=True)
    local.write_bytes(source)
    return PlannedRule(config=rule.config, typed=in_file(rule.typed, local))
