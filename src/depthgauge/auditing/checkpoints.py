"""Networks in a folder of somebody's checkpoints, named LABEL_sSEED.pt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from depthgauge.auditing.networks import NetworkUnderAudit
from depthgauge.auditing.trained import Trained, check_fits, trained_elsewhere
from depthgauge.diagnosis.precision import in_float32
from depthgauge.errors import UserError
from depthgauge.gauges.accuracy import named_rightly
from depthgauge.nets.opened import OpenedNet
from depthgauge.results.audit_parts import Source
from depthgauge.rules.access import access_of
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import evaluation_inputs

CHUNK = 1000
"""Samples that are evaluated at once."""


def find_checkpoints(
    folder: Path, labels: Sequence[str] | None, seeds: Sequence[int] | None
) -> tuple[list[Path], list[Path]]:
    """Return the files `LABEL_sSEED.pt` that are there, and those that are missing.

    Without `labels` or `seeds`, those that the folder has.
    """
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} with checkpoints")
    names = [parts for path in sorted(folder.iterdir()) if (parts := _parts(path.name))]
    labels = labels or list(dict.fromkeys(label for label, _ in names))
    seeds = seeds or sorted({seed for _, seed in names})
    wanted = [folder / f"{label}_s{seed}.pt" for label in labels for seed in seeds]
    present = [path for path in wanted if path.is_file()]
    if not present:
        raise UserError(f"{folder} has none of the checkpoints asked for, named LABEL_sSEED.pt")
    return present, [path for path in wanted if path not in present]


def _parts(name: str) -> tuple[str, int] | None:
    match = re.fullmatch(r"(?P<label>.+)_s(?P<seed>\d+)\.pt", name)
    return (match["label"], int(match["seed"])) if match else None


def networks_in_files(
    files: Sequence[Path], task: Task, frozen: Mapping[str, float]
) -> list[NetworkUnderAudit]:
    """Return the networks in files that `find_checkpoints` found; `frozen` has accuracies."""
    named = {path: parts for path in files if (parts := _parts(path.name))}
    labels = {label for label, _ in named.values()}
    unknown = sorted(set(frozen) - labels)
    if unknown:
        raise UserError(
            f"--frozen-acc names {', '.join(unknown)}, which is not among the checkpoints: "
            f"{', '.join(sorted(labels))}"
        )
    return [_from_file(path, *parts, task, frozen) for path, parts in named.items()]


def _from_file(
    path: Path, label: str, seed: int, task: Task, frozen: Mapping[str, float]
) -> NetworkUnderAudit:
    trained = trained_elsewhere(path)
    check_fits(trained, task)
    return NetworkUnderAudit(
        label=label,
        seed=seed,
        trained=trained,
        accuracy=accuracy_of(trained, task),
        frozen=frozen.get(label),
        source=Source(checkpoint=path.name),
        access=access_of(trained.rule) if trained.rule else None,
    )


@torch.no_grad()
def accuracy_of(trained: Trained, task: Task) -> float:
    """Return the accuracy on the whole evaluation split."""
    net, _ = in_float32(OpenedNet(trained.net))
    split, right = evaluation_inputs(task, torch.float32), 0
    for x, y in zip(torch.split(split.x, CHUNK), torch.split(split.y, CHUNK), strict=True):
        right += named_rightly(net.logits(x), y)[0]
    return right / len(split)
