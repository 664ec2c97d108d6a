"""Audits that take a moment, and a study's networks as somebody else would have saved them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from cli.commands import SMALL, Done, run
from safetensors.torch import load_file
from store.small_runs_on_disk import contents
from torch import Tensor

ALL_BLOCKS = 2


@dataclass(frozen=True)
class AuditedStudy:
    """A study's folder, what the audit printed, and its runs as they were before."""

    folder: Path
    done: Done
    runs_before: dict[str, Any]

    @cached_property
    def document(self) -> Any:
        return self.done.document


def run_audit(folder: Path, *more: object, rules: tuple[object, ...], seeds: object = (1,)) -> Done:
    """An audit of frozen and full runs alone; later options replace earlier ones."""
    shared = (*SMALL, "--no-twins", "--k", 0, ALL_BLOCKS, "--out", folder)
    return run("audit", *shared, "--rules", *rules, "--seeds", *seeds, *more)


def run_files(folder: Path) -> dict[str, Any]:
    """Every file of every run with its time and bytes."""
    return {name: file for name, file in contents(folder).items() if name.startswith("runs/")}


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def network_of(document: Any, label: str, seed: int = 1) -> Any:
    """A network of an audit: its accuracy, source and report."""
    (found,) = (
        network
        for network in document["networks"]
        if (network["label"], network["seed"]) == (label, seed)
    )
    return found


def readings_of(document: Any, label: str, seed: int = 1) -> Any:
    return network_of(document, label, seed)["report"]["readings"]


def find_run(study: Path, method: str, seed: int = 1, k: int = ALL_BLOCKS) -> Path:
    """The folder of a run."""
    (found,) = (
        path.parent
        for path in study.glob("runs/*/config.json")
        if (config := read(path))["rule"]["label"] == method
        and (config["seed"], config["k"]) == (seed, k)
    )
    return found


def saved_part(run_folder: Path, part: str) -> dict[str, Tensor]:
    """`parameters` or `feedback` of a run's checkpoint."""
    tensors = load_file(run_folder / "checkpoint.safetensors")
    prefix = f"{part}/"
    return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}


def export(study: Path, folder: Path, *, feedback: bool = False) -> Path:
    """The study's networks as METHOD_sSEED.pt: bp as plain state dicts, dfa inside a dict."""
    folder.mkdir()
    for seed in (1, 2):
        bp, dfa = (find_run(study, method, seed) for method in ("bp", "dfa"))
        torch.save(saved_part(bp, "parameters"), folder / f"bp_s{seed}.pt")
        content: dict[str, Any] = {"epoch": 1, "model": saved_part(dfa, "parameters")}
        if feedback:
            content["Bs"] = list(saved_part(dfa, "feedback")["B"])
        torch.save(content, folder / f"dfa_s{seed}.pt")
    return folder
