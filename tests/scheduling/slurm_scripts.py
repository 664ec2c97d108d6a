"""Programs in the place of Slurm's, and what a script asks Slurm for."""

from __future__ import annotations

import os
from pathlib import Path

import depthgauge


def put_program(folder: Path, name: str, body: str = "") -> Path:
    """A program that writes down what it was called with, and then does as `body` says."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/bash\necho "$@" >> "{folder}/{name}.log"\n{body}\n')
    path.chmod(0o755)
    return path


def called(folder: Path, name: str) -> list[str]:
    log = folder / f"{name}.log"
    return log.read_text().splitlines() if log.exists() else []


def environment(folder: Path, task: int) -> dict[str, str]:
    return os.environ | {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(depthgauge.__file__).parent.parent),
        "SLURM_ARRAY_TASK_ID": str(task),
        "SLURM_ARRAY_JOB_ID": "4711",
    }


def options(script: Path) -> dict[str, str]:
    """What the script asks Slurm for."""
    lines = [line for line in script.read_text().splitlines() if line.startswith("#SBATCH --")]
    pairs = [line.removeprefix("#SBATCH --").partition("=") for line in lines]
    return {name: value for name, _, value in pairs}
