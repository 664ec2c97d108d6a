"""Measure how often used depth and its words are wrong, in simulated studies with a known truth.

    PYTHONPATH=tests nice -n 19 python benchmarks/used_depth_error_rates.py
    PYTHONPATH=tests python benchmarks/used_depth_error_rates.py --tables

The first command writes reproduction/used-depth-error-rates/figures.json after each setting, and
continues where it stopped. The second prints the tables of docs/error-rates.md from that file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from used_depth_tables import STUDIES, print_tables
from verdict.simulated_ladders import (
    ADDING,
    AS_GOOD,
    CIFAR,
    EMBEDDED,
    LONG,
    NEARLY,
    ONE_DELTA,
    Noise,
    Task,
    count_errors,
)

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "reproduction" / "used-depth-error-rates" / "figures.json"
SEED_COUNTS, POWER_COUNTS = (3, 5, 10), (3, 5, 6, 10)
SAMPLES = 6400
"""The evaluation samples; an accuracy of 64 % then has a standard error of 0.6 points."""

TASKS: dict[str, tuple[Task, tuple[str, ...]]] = {
    "noise adds": (ADDING, ("nttt", "nntt", "nnnw")),
    "skipped rungs": (LONG, ("t" * 8, "nnnntttt", "n" * 8)),
    "gain of delta": (ONE_DELTA, ("tttt", ".ttt")),
    "cifar": (CIFAR, ("tttt", ".ttt")),
    "noise as good": (AS_GOOD, ("tttt",)),
    "noise nearly as good": (NEARLY, ("tttt",)),
    "embedded": (EMBEDDED, ("tttt", ".ttt", "nttt", "nnnt")),
    "positions": (
        EMBEDDED,
        ("...t", "..t.", ".t..", "t...", "t.t.", ".t.t", "tnnn", "hhht", "nnnn", "ssss", "...."),
    ),
    "again": (ADDING, ("tttt", "nttt")),
}

NORMAL, NARROW, SAMPLED = Noise(), Noise(spread=0.3), Noise(samples=SAMPLES)
HEAVY, SKEWED = Noise("t4", 0.1, 15), Noise("skewed down", 0.1, 15)
FIRST = (
    ("noise adds", (NORMAL, HEAVY, SAMPLED)),
    ("skipped rungs", (HEAVY,)),
    ("gain of delta", (NORMAL,)),
    ("noise as good", (NORMAL,)),
)
THEN = (
    ("cifar", (NARROW, SAMPLED)),
    ("noise nearly as good", (NORMAL,)),
    ("noise adds", (SKEWED,)),
)
SPREADS = (0.4, 0.9)


@dataclass(frozen=True)
class Setting:
    """A task with its rules, noise, and the numbers of seeds at which the study is looked at."""

    task: str
    noise: Noise
    looks: tuple[int, ...]

    def __str__(self) -> str:
        noise = self.noise
        spread = f"spread {noise.spread:g} to {noise.spread * noise.factor:g}"
        looks = " then ".join(map(str, self.looks))
        return f"{self.task}, n = {looks}, {noise.tails}, {spread}, samples {noise.samples}"


def list_settings() -> Iterator[Setting]:
    """Yield all settings, the most telling ones first."""
    yield from _errors(FIRST)
    for looks in ((3,), SEED_COUNTS):
        yield Setting("again", NORMAL, looks)
    for spread in SPREADS:
        for n in POWER_COUNTS:
            yield Setting("embedded", Noise(spread=spread), (n,))
    yield from _errors(THEN)
    yield Setting("positions", NORMAL, (3,))


def _errors(given: Iterable[tuple[str, Iterable[Noise]]]) -> Iterator[Setting]:
    for task, noises in given:
        for noise in noises:
            for n in SEED_COUNTS:
                yield Setting(task, noise, (n,))


def measure(given: tuple[Setting, int]) -> dict[str, Any]:
    """Return for each rule of a setting its truth, and the counts of answers."""
    setting, studies = given
    task, rules = TASKS[setting.task]
    return {
        "setting": str(setting),
        "task": setting.task,
        "noise": asdict(setting.noise),
        "looks": list(setting.looks),
        "studies": studies,
        "rules": count_errors(task, rules, setting.noise, setting.looks, studies),
    }


def run(settings: Iterable[Setting], path: Path, studies: int, processes: int) -> None:
    """Measure the settings that the file lacks, or has from fewer studies; write after each one."""
    done = json.loads(path.read_text())["settings"] if path.exists() else []
    known = {each["setting"]: each for each in done}
    left = [
        (each, studies)
        for each in settings
        if known.get(str(each), {"studies": 0})["studies"] < studies
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    commit = _commit()
    with get_context("fork").Pool(processes) as pool:
        for result in pool.imap(measure, left):
            known[result["setting"]] = {**result, "commit": commit}
            text = json.dumps({**_provenance(), "settings": [*known.values()]}, indent=1)
            beside = path.with_suffix(".part")
            beside.write_text(f"{text}\n")
            beside.replace(path)
            print(result["setting"], flush=True)


def _provenance() -> dict[str, Any]:
    return {
        "command": "PYTHONPATH=tests nice -n 19 python benchmarks/used_depth_error_rates.py",
        "machine": {"cores": os.cpu_count(), "processor": platform.machine()},
        "python": platform.python_version(),
    }


def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return asked.stdout.strip()


def main() -> None:
    """Measure, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=FIGURES)
    parser.add_argument("--tables", action="store_true", help="print the tables and stop")
    given = parser.parse_args()
    if given.tables:
        print_tables(json.loads(given.out.read_text())["settings"])
    else:
        run(list_settings(), given.out, given.studies, given.processes)


if __name__ == "__main__":
    main()
