"""Measure planning, status and export of large stores: seconds, memory, and their growth.

The runs are invented, but their files are real: every run has a folder with configuration, metrics
and result. Each job has a new process, so that its memory can be measured.

    python benchmarks/store_scale.py [--runs 10000 100000]
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import random
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from depthgauge.scheduling.grid import Grid

EPOCHS = 2
JOBS = ("plan", "plan again", "status", "export csv", "export parquet")


def grid_of(runs: int) -> Grid:
    """Return a grid with so many runs: dfa at k = 0 … 4 with many seeds."""
    from depthgauge.config import NetConfig, Recipe
    from depthgauge.rules.choice import choose_rule
    from depthgauge.scheduling.grid import Grid
    from depthgauge.tasks.registry import load_task

    seeds = range(runs // 5)
    net, recipe = NetConfig(width=8), Recipe(epochs=EPOCHS)
    return Grid(load_task("teacher"), net, recipe, [choose_rule("dfa")], range(5), seeds)


def plan(folder: Path, runs: int) -> None:
    """Do what a command does before it trains: choose sizes, read results, plan."""
    from depthgauge.cli.main import GARBAGE_AFTER
    from depthgauge.report.progress import show_progress
    from depthgauge.scheduling.execution import Execution, prepare
    from depthgauge.study_config import StudyConfig

    gc.set_threshold(GARBAGE_AFTER, 50, 50)
    execution = Execution(StudyConfig(device="cpu", threads=1), print, show_progress)
    prepare(grid_of(runs), folder, execution, networks=False)


def fill(folder: Path) -> None:
    """Write the files of every planned run; one in ten gets no result."""
    from depthgauge.store.plan_files import PlanFiles

    def line(epoch: int) -> str:
        norms = {name: [random() for _ in range(5)] for name in ("h_norm", "g_norm")}
        measured = {"train_loss": random(), "accuracy": random(), "g_over_e": random()}
        return json.dumps({"epoch": epoch, **measured, "diverged": False, **norms}) + "\n"

    metrics = "".join(line(epoch) for epoch in range(EPOCHS + 1))
    norms = {"h_norm": [1.0], "g_norm": [1.0]}
    shared = {"status": "finished", "final_acc": 0.25, "diverged_epoch": None, "final": norms}
    shared |= {"schema_version": 1, "provenance": {"commit": None, "libraries": {"torch": "2"}}}
    for cohort in PlanFiles(folder / "plan").read().current:
        for number, config in enumerate(cohort.configs):
            run = folder / "runs" / config.identity
            run.mkdir(parents=True)
            (run / "config.json").write_text(config.model_dump_json())
            (run / "metrics.jsonl").write_text(metrics)
            if number % 10:
                result = shared | {"identity": config.identity}
                (run / "result.json").write_text(json.dumps(result))


def do(job: str, folder: Path, runs: int) -> None:
    """Do one job in this process."""
    from depthgauge.cli.main import main

    if job.startswith("plan"):
        plan(folder, runs)
    elif job == "status":
        main(["status", str(folder), "--json"])
    else:
        main(["export", str(folder), "--format", job.split()[1]])


def measure(job: str, folder: Path, runs: int) -> tuple[float, float]:
    """Return the seconds and the megabytes of a job in a new process and those that it starts."""
    command = [sys.executable, __file__, "--job", job, "--folder", str(folder), "--runs", str(runs)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, text=True)
        held = 0
        while process.poll() is None:
            held = max(held, held_now(process.pid))
            time.sleep(0.1)
        errors.seek(0)
        text = errors.read()
    if process.returncode:
        raise SystemExit(text)
    seconds, megabytes = text.split()[-2:]
    return float(seconds), max(float(megabytes), held / 2**20)


def held_now(pid: int) -> int:
    """Return the bytes of a process and its children; shared pages count once."""
    try:
        parent = psutil.Process(pid)
        every = [parent, *parent.children(recursive=True)]
        return sum(process.memory_full_info().pss for process in every)
    except psutil.Error:  # the process has just ended
        return 0


def main() -> None:
    """Print a table; with `--job`, do that job and print its seconds and megabytes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--job")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    if args.job:
        began = time.perf_counter()
        do(args.job, args.folder, args.runs[0])
        from depthgauge.store.peak_memory import peak_memory_bytes

        peak = peak_memory_bytes() / 2**20
        print(f"{time.perf_counter() - began:.3f} {peak:.0f}", file=sys.stderr)
        return
    table: dict[str, list[tuple[float, float]]] = {job: [] for job in JOBS}
    for runs in args.runs:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "study"
            for job in JOBS:
                if job == "plan again":
                    fill(folder)
                    os.sync()  # finish writing the invented files before the measurement
                table[job].append(measure(job, folder, runs))
    print(f"{'':16}" + "".join(f"{runs:>12} runs      " for runs in args.runs) + "  exponent")
    for job, cells in table.items():
        row = "".join(f"{seconds:9.2f} s {megabytes:5.0f} MB  " for seconds, megabytes in cells)
        (first, _), (last, _) = cells[0], cells[-1]
        growth = math.log(last / first) / math.log(args.runs[-1] / args.runs[0])
        print(f"{job:16}{row}  {growth:.2f}")


if __name__ == "__main__":
    main()
