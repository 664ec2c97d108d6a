"""Killed at any moment, a study ends as if nothing had happened: real processes, `kill -9`."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from cli.commands import run, start
from store.small_runs_on_disk import checkpoint_bits, contents

RULES = ("bp", "fa", "dfa")
KS, SEEDS = (0, 2), (1, 2)
RUNS = len(RULES) * len(KS) * len(SEEDS)
PATIENCE = 300  # seconds until a test gives up; a busy machine may be slow


def command(folder: Path, epochs: int) -> list[object]:
    """Small, several rules, and a checkpoint after every epoch."""
    return [
        *("ladder", "--task", "digits", "--width", 8, "--depth", 2, "--rules", *RULES),
        *("--k", *KS, "--seeds", *SEEDS, "--epochs", epochs, "--threads", 1),
        *("--save-every", 0, "--no-twins", "--no-floors", "--out", folder, "--json"),
    ]


def epochs_recorded(folder: Path) -> int:
    """How many lines of metrics there are, over all runs."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("runs/*/metrics.jsonl"))


def finished_runs(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of the runs that are done."""
    done = [path.parent for path in folder.glob("runs/*/result.json")]
    return {f"{run.name}/{name}": file for run in done for name, file in contents(run).items()}


def kill_when(folder: Path, epochs: int, recorded: int, delay: float, cores: int) -> None:
    """Start the command, and kill it `delay` seconds after so many epochs are recorded."""
    process = start(
        *("-m", "depthgauge.cli.main", *command(folder, epochs)),
        cores=cores,
        stdout=PIPE,
        stderr=PIPE,
    )
    give_up = time.monotonic() + PATIENCE
    while process.poll() is None and epochs_recorded(folder) < recorded:
        assert time.monotonic() < give_up
        time.sleep(0.005)
    time.sleep(delay)
    process.kill()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, err
    assert out == ""
    assert "Traceback" not in err


def outcome(folder: Path) -> dict[str, Any]:
    """What must not depend on interruptions: results, every epoch's metrics, every weight."""
    found = {}
    for path in folder.glob("runs/*/result.json"):
        result = json.loads(path.read_text())
        del result["provenance"]
        metrics = path.with_name("metrics.jsonl").read_text().splitlines()
        checkpoint = checkpoint_bits(path.with_name("checkpoint.safetensors"))
        found[path.parent.name] = (result, [json.loads(line) for line in metrics], checkpoint)
    return found


def check_kills(tmp_path: Path, epochs: int, kills: int, seed: int, cores: int = 1) -> None:
    undisturbed, folder = tmp_path / "undisturbed", tmp_path / "killed"
    assert run(*command(undisturbed, epochs)).status == 0
    chance = random.Random(seed)
    most = int(0.9 * RUNS * (epochs + 1))
    done: dict[str, tuple[int, bytes]] = {}
    for recorded in sorted(chance.randint(1, most) for _ in range(kills)):
        kill_when(folder, epochs, recorded, chance.uniform(0, 0.1), cores)
        done |= finished_runs(folder)
    assert run(*command(folder, epochs)).status == 0
    assert len(outcome(folder)) == RUNS
    assert outcome(folder) == outcome(undisturbed)
    after = finished_runs(folder)
    assert {name: after[name] for name in done} == done
    ladders = [json.loads((path / "ladder.json").read_text()) for path in (folder, undisturbed)]
    assert [[rung["mean"] for rung in rungs] for rungs in ladders[0]["rules"].values()] == [
        [rung["mean"] for rung in rungs] for rungs in ladders[1]["rules"].values()
    ]


@pytest.mark.slow
def test_killed_a_few_times(tmp_path):
    check_kills(tmp_path, epochs=4, kills=2, seed=2024)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_many_times(tmp_path, seed):
    check_kills(tmp_path, epochs=30, kills=12, seed=seed)


@pytest.mark.slow
def test_killed_many_times_while_cohorts_train_side_by_side(tmp_path):
    check_kills(tmp_path, epochs=30, kills=8, seed=7, cores=2)
