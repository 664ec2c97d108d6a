"""A cohort sent to where the study's folder cannot be seen, and what comes back from there."""

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
"""By a run's identity and a file's name: `identity/metrics.jsonl`."""

SEND_EVERY = 10.0
"""Seconds between two deliveries of what has changed."""


@dataclass(frozen=True)
class Parcel:
    """What is needed to train one cohort: the study, its plan, rules from files, runs so far."""

    study: bytes
    plan: PlanFile
    rules: Mapping[str, bytes]
    files: Files


def pack(study: StudyFolder, cohort: CohortPlan) -> Parcel:
    """Everything of one cohort."""
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
    """The parcel as a study's folder of its own; rules from files lie beside it."""
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
    """Write what was sent into the folders of the cohort's runs; a result comes last.

    Runs that are done already are left as they are.
    """
    known = set(cohort.identities)
    done = {identity for identity in known if study.is_done(identity)}
    for place in files:
        identity, _, name = place.partition("/")
        if identity not in known or name not in NAMES:
            raise UserError(f"the file {place!r} is not one of the cohort {cohort.name}")
    for place in sorted(files, key=lambda place: place.endswith(RESULT)):
        path = study.runs / place
        if path.parent.name not in done:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, files[place])


class ChangeSender:
    """Sends what has changed in a cohort's runs now and then, until told that all is done."""

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
        """Send the rest."""
        self._ended.set()
        self._thread.join()
        self.send_changes()

    def send_changes(self) -> None:
        """What is not as it was sent last."""
        now: Files = {}
        for config in self._cohort.configs:
            now |= _files_of(self._study.run(config).path)
        changed = {place: data for place, data in now.items() if self._sent.get(place) != data}
        if changed:
            self._send(changed)
            self._sent |= changed


def _files_of(run: Path) -> Files:
    """The result is looked for first: what stands beside it then is final."""
    found: Files = {}
    for name in reversed(NAMES):
        try:
            found[f"{run.name}/{name}"] = (run / name).read_bytes()
        except FileNotFoundError:
            continue
    return found


def _beside(rule: PlannedRule, source: bytes | None, folder: Path) -> PlannedRule:
    """The rule, read from a file beside the study if it came in one."""
    path = file_of(rule.typed)
    if source is None or path is None:
        return rule
    local = folder / "rules" / path.name
    local.parent.mkdir(exist_ok=True)
    local.write_bytes(source)
    return PlannedRule(config=rule.config, typed=in_file(rule.typed, local))
