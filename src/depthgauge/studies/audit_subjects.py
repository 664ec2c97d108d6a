"""Which networks an audit looks at: a study's runs, or a folder of somebody's checkpoints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from depthgauge.diagnosis.precision import in_float32
from depthgauge.errors import UserError
from depthgauge.gauges.accuracy import named_rightly
from depthgauge.nets.opened import OpenedNet
from depthgauge.scheduling.plan import Grid, PlannedRun
from depthgauge.store.run_folder import RunFolder
from depthgauge.store.study_folder import StudyFolder
from depthgauge.studies.trained import Trained, check_fits, trained_elsewhere, trained_run
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import evaluation_inputs

CHUNK = 1000


@dataclass(frozen=True)
class Subject:
    """One network under audit.

    Attributes:
        method: the rule's label.
        rule: its name, without what is in the brackets; None for a network from elsewhere.
        control: which control it was trained under, if any.
        seed: of the run.
        trained: the network, None where the run diverged.
        accuracy: on the whole evaluation split.
        frozen: accuracy of the same rule and seed with frozen blocks, None if not known, or if
            there was nothing to learn.
        source: where everything came from.
        metrics: one line for each epoch, where the training was ours.
    """

    method: str
    seed: int
    trained: Trained | None
    accuracy: float | None
    frozen: float | None
    source: dict[str, Any]
    metrics: Sequence[dict[str, Any]] = field(default=())
    rule: str | None = None
    control: str | None = None

    @property
    def key(self) -> str:
        """How the audit calls it: `dfa_s42`."""
        return f"{self.method}_s{self.seed}"


def subjects_of_study(study: StudyFolder, grid: Grid) -> list[Subject]:
    """Every run with all blocks trained that is finished, with its frozen baseline.

    A network without blocks has no depth to be audited: see `shallow_accuracies`.
    """
    runs = grid.runs()
    frozen = {
        (run.config.rule.label, run.config.seed): study.run(run.config)
        for run in runs
        if run.config.k == 0
    }
    return [
        _subject(study.run(run.config), run, frozen[run.config.rule.label, run.config.seed], grid)
        for run in runs
        if run.config.k == run.config.net.blocks > 0 and study.run(run.config).result is not None
    ]


def shallow_accuracies(study: StudyFolder, grid: Grid) -> dict[str, dict[str, Any]]:
    """For each rule under the shallow control, each seed's accuracy and its run."""
    found: dict[str, dict[str, Any]] = {}
    for run in grid.runs():
        result = study.run(run.config).result
        if run.config.net.blocks == 0 and result is not None:
            entry = {"acc": result["final_acc"], "run": f"runs/{run.config.identity}"}
            found.setdefault(run.config.rule.label, {})[str(run.config.seed)] = entry
    return found


def _subject(folder: RunFolder, run: PlannedRun, frozen: RunFolder, grid: Grid) -> Subject:
    result, baseline = folder.result or {}, frozen.result or {}
    diverged = result.get("final_acc") is None
    nothing_to_learn = run.config.recipe.targets == "random"
    return Subject(
        method=run.config.rule.label,
        seed=run.config.seed,
        trained=None if diverged else trained_run(folder, grid.task, run.choice.build()),
        accuracy=result.get("final_acc"),
        frozen=None if nothing_to_learn else baseline.get("final_acc"),
        source={
            "run": f"runs/{folder.config.identity}",
            "frozen_run": f"runs/{frozen.config.identity}",
            "commit": result["provenance"]["commit"],
            "diverged_epoch": result.get("diverged_epoch"),
        },
        metrics=folder.metrics.lines(),
        rule=run.config.rule.name,
        control=run.choice.control,
    )


def files_in(
    folder: Path, methods: Sequence[str] | None, seeds: Sequence[int] | None
) -> tuple[list[Path], list[Path]]:
    """The files `{method}_s{seed}.pt` that are there, and those that are missing.

    Without `methods` or `seeds`, those that the folder has.
    """
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} with checkpoints")
    names = [parts for path in sorted(folder.iterdir()) if (parts := _parts(path.name))]
    methods = methods or list(dict.fromkeys(method for method, _ in names))
    seeds = seeds or sorted({seed for _, seed in names})
    wanted = [folder / f"{method}_s{seed}.pt" for method in methods for seed in seeds]
    present = [path for path in wanted if path.is_file()]
    if not present:
        raise UserError(f"{folder} has none of the checkpoints asked for, named METHOD_sSEED.pt")
    return present, [path for path in wanted if path not in present]


def _parts(name: str) -> tuple[str, int] | None:
    match = re.fullmatch(r"(?P<method>.+)_s(?P<seed>\d+)\.pt", name)
    return (match["method"], int(match["seed"])) if match else None


def subjects_in(files: Sequence[Path], task: Task, frozen: Mapping[str, float]) -> list[Subject]:
    """The networks in files that `files_in` has found; `frozen` has accuracies by method."""
    methods = {method for method, _ in map(_named, files)}
    unknown = sorted(set(frozen) - methods)
    if unknown:
        raise UserError(
            f"--frozen-acc names {', '.join(unknown)}, which is not among the methods: "
            f"{', '.join(sorted(methods))}"
        )
    return [_from_file(path, task, frozen) for path in files]


def _named(path: Path) -> tuple[str, int]:
    parts = _parts(path.name)
    if parts is None:
        raise UserError(f"{path} is not named METHOD_sSEED.pt")
    return parts


def _from_file(path: Path, task: Task, frozen: Mapping[str, float]) -> Subject:
    method, seed = _named(path)
    trained = trained_elsewhere(path)
    check_fits(trained, task)
    return Subject(
        method=method,
        seed=seed,
        trained=trained,
        accuracy=accuracy_of(trained, task),
        frozen=frozen.get(method),
        source={"checkpoint": path.name},
    )


@torch.no_grad()
def accuracy_of(trained: Trained, task: Task) -> float:
    """Accuracy on the whole evaluation split."""
    net, _ = in_float32(OpenedNet(trained.net))
    split, right = evaluation_inputs(task, torch.float32), 0
    for x, y in zip(torch.split(split.x, CHUNK), torch.split(split.y, CHUNK), strict=True):
        right += named_rightly(net.logits(x), y)[0]
    return right / len(split)
