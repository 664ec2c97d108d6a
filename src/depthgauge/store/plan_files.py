"""The plan of a study: files that list its cohorts, groups of runs that are trained together.

Each command that adds runs to the study adds the next file: `plan/1.json`, `plan/2.json`, …. Only
one process can create a file. If two processes plan at once, the second process reads the file of
the first process, and plans only the runs that are missing in that file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from depthgauge.config import (
    NO_INTERVENTION,
    SCHEMA_VERSION,
    Intervention,
    NetConfig,
    Recipe,
    RuleConfig,
    RunConfig,
    TaskConfig,
    identity_of,
)
from depthgauge.errors import UserError
from depthgauge.store.files import create_exclusively, make_folder
from depthgauge.store.relative_paths import relative_reference, whole_reference

NAME_DIGITS = 12
FEW_LABELS = 2
"""The label of a cohort lists at most this many labels of rules."""


class PlannedRule(BaseModel):
    """A rule of a cohort.

    `intervention` names the blocks that do not follow the rule in these runs. `typed` is the
    user's text for the rule, such as `dfa[normalise=batch]`.
    """

    model_config = ConfigDict(frozen=True)

    config: RuleConfig
    typed: str
    intervention: Intervention = NO_INTERVENTION


class CohortPlan(BaseModel):
    """A cohort: runs that are trained together.

    Each entry of `runs` is (position of the rule in `rules`, k, seed). If this cohort is a part of
    a cohort that was split, `replaces` is the name of that cohort. `net_typed` is the user's text
    for a network of their own, such as `mine.py:make`.
    """

    model_config = ConfigDict(frozen=True)

    task: TaskConfig
    net: NetConfig
    recipe: Recipe
    rules: tuple[PlannedRule, ...]
    runs: tuple[tuple[int, int, int], ...]
    replaces: str | None = None
    net_typed: str = ""

    @cached_property
    def configs(self) -> list[RunConfig]:
        """The configuration of each run."""
        return [
            RunConfig(
                task=self.task,
                net=self.net,
                rule=self.rules[rule].config,
                recipe=self.recipe,
                k=k,
                seed=seed,
                intervention=self.rules[rule].intervention,
            )
            for rule, k, seed in self.runs
        ]

    @cached_property
    def identities(self) -> list[str]:
        """The identity of each run: the same as in `configs`, but computed faster."""
        return [
            identity_of(
                self.task,
                self.net,
                self.rules[rule].config,
                self.recipe,
                k=k,
                seed=seed,
                intervention=self.rules[rule].intervention,
            )
            for rule, k, seed in self.runs
        ]

    @cached_property
    def name(self) -> str:
        """The cohort's name: a hash of the identities of the runs, in order."""
        return hashlib.sha256(" ".join(self.identities).encode()).hexdigest()[:NAME_DIGITS]

    @property
    def label(self) -> str:
        """The text that stands for the cohort in progress bars and messages."""
        labels = list(dict.fromkeys(rule.config.label for rule in self.rules))
        if len(labels) > FEW_LABELS:
            return f"{self.rules[0].config.name} at {len(labels)} settings"
        return ", ".join(labels)

    def part(self, positions: Sequence[int]) -> CohortPlan:
        """Return a cohort of the runs at these positions; such parts replace this cohort."""
        runs = tuple(self.runs[position] for position in positions)
        return self.changed(runs=runs, replaces=self.name)

    def changed(self, **changes: Any) -> CohortPlan:
        """Return a copy of the cohort with some fields changed."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return CohortPlan(**own | changes)


class PlanFile(BaseModel):
    """One file of the plan.

    `task` is the user's text for the task; other processes load the task from this text.
    `validation` is the number of training samples that are held out. `samples` is the number of
    training samples that remain. `chance` is the accuracy of guessing; plans of earlier versions
    do not have `chance`.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    task: str
    validation: int
    samples: int
    cohorts: list[CohortPlan]
    chance: float | None = None

    def with_cohorts(self, cohorts: Sequence[CohortPlan]) -> PlanFile:
        """Return a copy of the file with these cohorts in place of the file's cohorts."""
        return self.model_copy(update={"cohorts": list(cohorts)})

    def with_references(self, change: Callable[[str], str]) -> PlanFile:
        """Return a copy in which `change` replaced the user's texts: task, rules and network."""
        cohorts = [
            cohort.model_copy(
                update={
                    "rules": tuple(
                        rule.model_copy(update={"typed": change(rule.typed)})
                        for rule in cohort.rules
                    ),
                    "net_typed": change(cohort.net_typed),
                }
            )
            for cohort in self.cohorts
        ]
        return self.model_copy(update={"task": change(self.task), "cohorts": cohorts})


class Plan:
    """All cohorts that have been planned, from all files of the plan."""

    def __init__(self, files: Sequence[PlanFile]) -> None:
        self.files = list(files)
        self.cohorts = {cohort.name: cohort for file in files for cohort in file.cohorts}
        self._file_of = {cohort.name: file for file in files for cohort in file.cohorts}
        self._parts: dict[str, list[str]] = {}
        for cohort in self.cohorts.values():
            if cohort.replaces is not None:
                self._parts.setdefault(cohort.replaces, []).append(cohort.name)

    def resolve(self, names: Iterable[str]) -> list[CohortPlan]:
        """Return the cohorts of these names; a cohort that was split is replaced by its parts."""
        cohorts: list[CohortPlan] = []
        for name in names:
            parts = self._parts.get(name)
            cohorts += self.resolve(parts) if parts else [self.cohorts[name]]
        return cohorts

    @property
    def current(self) -> list[CohortPlan]:
        """The cohorts that have not been split, in the order of planning."""
        return [cohort for name, cohort in self.cohorts.items() if name not in self._parts]

    @cached_property
    def cohort_of(self) -> dict[str, CohortPlan]:
        """The cohort of each run, by the run's identity."""
        return {identity: cohort for cohort in self.current for identity in cohort.identities}

    def task_of(self, cohort: CohortPlan) -> tuple[str, int]:
        """Return the user's text for the task of a cohort, and the number of held-out samples."""
        file = self._file_of[cohort.name]
        return file.task, file.validation

    def steps_of(self, cohort: CohortPlan) -> int:
        """Return the number of steps in one epoch of a cohort."""
        return -(-self._file_of[cohort.name].samples // cohort.recipe.batch_size)

    def file_of(self, cohort: CohortPlan) -> PlanFile:
        """Return the file in which a cohort was planned."""
        return self._file_of[cohort.name]


class PlanFiles:
    """The folder `plan/` of a study; each file is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._plan = Plan([])

    def read(self) -> Plan:
        """Return the plan; read the files that other processes have added since the last call."""
        files = self._plan.files
        while (path := self._path(len(files) + 1)).exists():
            files = [*files, self._in_place(_read(path))]
        if len(files) > len(self._plan.files):
            self._plan = Plan(files)
        return self._plan

    def add(self, plan: Plan, file: PlanFile) -> bool:
        """Write `file` after the files of `plan`; return False if another process was faster."""
        make_folder(self.folder)
        stored = file.with_references(lambda named: relative_reference(named, self.folder.parent))
        text = stored.model_dump_json() + "\n"
        if not create_exclusively(self._path(len(plan.files) + 1), text):
            return False
        self._plan = Plan([*plan.files, file])
        return True

    def _in_place(self, file: PlanFile) -> PlanFile:
        return file.with_references(lambda named: whole_reference(named, self.folder.parent))

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.json"


def _read(path: Path) -> PlanFile:
    try:
        return PlanFile.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, ValueError) as error:
        raise UserError(
            f"{path} is damaged or of another version of depthgauge; nothing was changed; move the "
            "file away, and run the command again to plan the remaining runs"
        ) from error
