"""Networks from a folder of the user's checkpoints. Each checkpoint is named LABEL_sSEED.pt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from depthgauge.auditing.networks import NetworkUnderAudit
from depthgauge.auditing.trained_network import (
    TrainedNetwork,
    check_fits,
    load_module,
    load_residual_mlp,
)
from depthgauge.diagnosis.precision import in_float32
from depthgauge.errors import UserError
from depthgauge.nets.batch import ForwardError
from depthgauge.nets.stream_reader import StreamReader
from depthgauge.results.audit_parts import Source
from depthgauge.rules.access import access_of
from depthgauge.tasks.base import Task
from depthgauge.tasks.inputs import evaluation_inputs

CHUNK = 1000
"""The number of samples that are evaluated at once."""


def find_checkpoints(
    folder: Path, labels: Sequence[str] | None, seeds: Sequence[int] | None
) -> tuple[list[Path], list[Path]]:
    """Return the existing and the missing files `LABEL_sSEED.pt` for these labels and seeds.

    If `labels` or `seeds` is None, all labels or all seeds in the folder are taken.
    """
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; give a folder with checkpoints")
    names = [parts for path in sorted(folder.iterdir()) if (parts := _parts(path.name))]
    labels = labels or list(dict.fromkeys(label for label, _ in names))
    seeds = seeds or sorted({seed for _, seed in names})
    wanted = [folder / f"{label}_s{seed}.pt" for label in labels for seed in seeds]
    present = [path for path in wanted if path.is_file()]
    if not present:
        raise UserError(
            f"{folder} has no checkpoint with the chosen labels and seeds; name checkpoints "
            "LABEL_sSEED.pt, for example dfa_s42.pt"
        )
    return present, [path for path in wanted if path not in present]


def _parts(name: str) -> tuple[str, int] | None:
    """Return the label and seed in a checkpoint's file name; None if the name has another form."""
    match = re.fullmatch(r"(?P<label>.+)_s(?P<seed>\d+)\.pt", name)
    return (match["label"], int(match["seed"])) if match else None


def networks_in_files(
    files: Sequence[Path],
    task: Task,
    frozen: Mapping[str, float],
    factory: str | None = None,
    blocks: str | None = None,
) -> list[NetworkUnderAudit]:
    """Load the networks in checkpoint files.

    `frozen` has, by label, the accuracy that training with frozen blocks reached. Without a
    `factory`, every network is a ResidualMLP, and the shapes of its weights tell its size.
    """
    named = {path: parts for path in files if (parts := _parts(path.name))}
    labels = {label for label, _ in named.values()}
    unknown = sorted(set(frozen) - labels)
    if unknown:
        raise UserError(
            f"--frozen-acc names {', '.join(unknown)}, but the checkpoints have the labels "
            f"{', '.join(sorted(labels))}"
        )
    return [
        _under_audit(_trained(path, seed, task, factory, blocks), label, seed, task, frozen)
        for path, (label, seed) in named.items()
    ]


def _trained(
    path: Path, seed: int, task: Task, factory: str | None, blocks: str | None
) -> TrainedNetwork:
    if factory is not None:
        return replace(load_module(path, factory, blocks, seed), loss=task.loss)
    trained = replace(load_residual_mlp(path), loss=task.loss)
    check_fits(trained, task)
    return trained


def _under_audit(
    trained: TrainedNetwork, label: str, seed: int, task: Task, frozen: Mapping[str, float]
) -> NetworkUnderAudit:
    return NetworkUnderAudit(
        label=label,
        seed=seed,
        trained=trained,
        accuracy=accuracy_of(trained, task),
        frozen=frozen.get(label),
        source=Source(checkpoint=trained.name),
        access=access_of(trained.rule) if trained.rule else None,
    )


@torch.no_grad()
def accuracy_of(trained: TrainedNetwork, task: Task) -> float:
    """Return the accuracy on the whole evaluation split, or R² if targets are real numbers."""
    net, _ = in_float32(StreamReader(trained.net, trained.blocks, loss=trained.loss))
    split, total = evaluation_inputs(task, torch.float32), 0.0
    score = net.loss.score(split.y)
    for x, y in zip(torch.split(split.x, CHUNK), torch.split(split.y, CHUNK), strict=True):
        outputs = _outputs(net, x, y.shape, trained.origin, task)
        total += float(score(outputs, y).sum(dtype=torch.float64))
    return total / len(split)


def _outputs(
    net: StreamReader, x: Tensor, targets: Sequence[int], origin: str, task: Task
) -> Tensor:
    """Return the network's outputs; refuse them if their shape does not fit the targets' shape."""
    try:
        logits = net.logits(x)
    except ForwardError as error:
        raise UserError(f"{origin}: {error} ({task.shape})") from error
    expected = tuple(targets) if task.is_regression else (*targets, task.num_classes)
    shape = tuple(logits.shape)
    if shape[:-1] != expected[:-1] or shape[-1:] < expected[-1:]:
        axes = "samples by targets" if task.is_regression else "samples by classes"
        raise UserError(
            f"{origin}: for {len(x)} samples of the task {task.name}, the logits have the shape "
            f"{shape}; the shape must be {expected}, {axes}"
        )
    return logits
