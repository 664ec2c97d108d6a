"""Send the files of a cohort to a node without the study's folder, and get changed files back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from depthgauge.errors import UserError
from depthgauge.registry import file_of, in_file
from depthgauge.store.files import write_bytes
from depthgauge.store.network_sources import saved_loss, saved_source
from depthgauge.store.plan_files import CohortPlan, PlanFile, PlannedRule
from depthgauge.store.relative_paths import SOURCES
from depthgauge.store.run_paths import NAMES, RESULT
from depthgauge.store.study_folder import StudyFolder

Files = dict[str, bytes]
"""The contents of runs' files, by identity and file name: `2236342575e08e63/metrics.jsonl`."""

SEND_EVERY = 10.0
"""Seconds between two deliveries of changed files."""


@dataclass(frozen=True)
class Parcel:
    """Everything that a node needs to train a cohort.

    Attributes:
        study: the content of `study.json`.
        plan: a plan with this cohort alone.
        rules: the content of each file with a rule of the user, by the user's text for the rule.
        files: the present files of the cohort's runs.
        sources: the content of each file with a network or loss of the user, by the file's name in
            the study's folder.
    """

    study: bytes
    plan: PlanFile
    rules: Mapping[str, bytes]
    files: Files
    sources: Mapping[str, bytes] = field(default_factory=dict)


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
    saved = (saved_source(study.path, cohort.net), saved_loss(study.path, cohort.recipe))
    sources = {path.name: path.read_bytes() for path in saved if path is not None}
    return Parcel(study.study_path.read_bytes(), alone, rules, files, sources)


def unpack(parcel: Parcel, folder: Path) -> StudyFolder:
    """Write the content of a parcel into `folder`, as the folder of a study; return the study."""
    study = StudyFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    study.study_path.write_bytes(parcel.study)
    (cohort,) = parcel.plan.cohorts
    for name, content in parcel.sources.items():
        (folder / SOURCES).mkdir(exist_ok=True)
        (folder / SOURCES / name).write_bytes(content)
    rules = [_beside(rule, parcel.rules.get(rule.typed), folder) for rule in cohort.rules]
    local = cohort.changed(rules=tuple(rules))
    study.plan_files.add(study.plan_files.read(), parcel.plan.with_cohorts([local]))
    deliver(study, cohort, parcel.files)
    return study


def deliver(study: StudyFolder, cohort: CohortPlan, files: Files) -> None:
    """Write received files into the folders of a cohort's runs; results are written last.

    Runs that are already done are not changed.
    """
    known = set(cohort.identities)
    done = {identity for identity in known if study.is_done(identity)}
    for place in files:
        identity, _, name = place.partition("/")
        if identity not in known or name not in NAMES:
            raise UserError(
                f"a node sent the file {place!r}, which is not of the cohort {cohort.name}; the "
                "file was not written"
            )
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
        """Send the files that have changed since they were last sent."""
        now: Files = {}
        for config in self._cohort.configs:
            now |= _files_of(self._study.run(config).path)
        changed = {place: data for place, data in now.items() if self._sent.get(place) != data}
        if changed:
            self._send(changed)
            self._sent |= changed


def _files_of(run: Path) -> Files:
    """Return the contents of a run's files.

    The result is read first: once it exists, the other files no longer change.
    """
    found: Files = {}
    for name in reversed(NAMES):
        try:
            found[f"{run.name}/{name}"] = (run / name).read_bytes()
        except FileNotFoundError:
            continue
    return found


def _beside(rule: PlannedRule, source: bytes | None, folder: Path) -> PlannedRule:
    """Write the source of a user's rule to a file, and return the rule with the path of the file.

    If `source` is None, return the rule unchanged.
    """
    path = file_of(rule.typed)
    if source is None or path is None:
        return rule
    local = folder / "rules" / path.name
    local.parent.mkdir(exist_ok=True)
    local.write_bytes(source)
    return PlannedRule(config=rule.config, typed=in_file(rule.typed, local))
