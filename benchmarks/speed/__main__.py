"""How fast the cohort engine is: ratios to the best plain loop and to what people do today.

    python -m speed [--rules bp dfa] [--shapes 256x4] [--sizes 15] [--rounds 5] [--json FILE]

All contenders of a case train alternately in one run, each in processes of its own; between any two
the machine's own matrix-multiply peak is measured. Everything includes data, and evaluation in its
proportion. Figures are medians over the rounds, with their range.

- script: one run at a time, a DataLoader of PIL images, an optimizer for each block.
- loop, loops: the best plain loop, in one process with all threads, and one-thread on each core.
- engine N, engines N: cohorts of N runs, one with all threads, and one-thread on each core.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch

from .cases import EPOCH_STEPS, RULES, SHAPES, SIZES, Case
from .engine import Engine
from .loop import Loop
from .processes import Processes
from .script import Script

SLICE = 2.0
"""Seconds, about, that a contender trains at a time."""


def peak_flops(size: int = 2048) -> float:
    """Operations a second of one large matrix product with all threads."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    began = time.perf_counter()
    a @ b
    return 2 * size**3 / (time.perf_counter() - began)


def contenders_of(case: Case, sizes: list[int], cores: int) -> dict[str, Processes]:
    """Every contender, ready to train."""
    ladder = case.blocks + 1
    found = {
        "script": Processes(Script, case, ladder, processes=1, threads=cores),
        "loop": Processes(Loop, case, ladder, processes=1, threads=cores),
        "loops": Processes(Loop, case, ladder, processes=cores, threads=1),
    }
    for size in sizes:
        found[f"engine {size}"] = Processes(Engine, case, size, processes=1, threads=cores)
        found[f"engines {size}"] = Processes(Engine, case, size, processes=cores, threads=1)
    return found


def measure(case: Case, sizes: list[int], rounds: int) -> dict[str, Any]:
    """Alternate; medians and ranges of run-epochs a second."""
    cores = os.cpu_count() or 1
    contenders = contenders_of(case, sizes, cores)
    steps = {name: _steps_in_a_slice(one) for name, one in contenders.items()}
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    peaks: list[float] = []
    for number in range(rounds):
        for name, contender in contenders.items():
            peaks.append(peak_flops())
            began = time.perf_counter()
            done = contender.train(steps[name])
            rates[name].append(done / EPOCH_STEPS / (time.perf_counter() - began))
        print(f"{case}: round {number + 1} of {rounds}", file=sys.stderr)
    memory = {name: one.stop() for name, one in contenders.items()}
    flops = {str(size): Engine(case, size).flops() for size in sizes}
    return {
        "rule": case.rule,
        "width": case.width,
        "blocks": case.blocks,
        "rates": rates,
        "peaks": peaks,
        "memory_bytes": memory,
        "flops_of_a_run_step": flops,
    }


def _steps_in_a_slice(contender: Processes) -> int:
    began = time.perf_counter()
    contender.train(2)
    return max(2, round(2 * SLICE / (time.perf_counter() - began)))


def summary(result: dict[str, Any], size: int) -> dict[str, float]:
    """The ratios that count, for cohorts of one size."""
    middle = {name: statistics.median(rates) for name, rates in result["rates"].items()}
    engine = max(middle[f"engine {size}"], middle[f"engines {size}"])
    flops = result["flops_of_a_run_step"][str(size)] * EPOCH_STEPS
    return {
        "engine": engine,
        "over_loop": engine / max(middle["loop"], middle["loops"]),
        "over_script": engine / middle["script"],
        "share_of_peak": engine * flops / max(result["peaks"]),
    }


def show(result: dict[str, Any], sizes: list[int]) -> None:
    """One case as text."""
    print(f"{result['rule']}, d = {result['width']}, L = {result['blocks']}")
    for name, rates in result["rates"].items():
        low, high = min(rates), max(rates)
        memory = result["memory_bytes"][name] / 2**20
        middle = statistics.median(rates)
        print(f"  {name:12} {middle:.3f} ({low:.3f} … {high:.3f}) run-epochs/s  {memory:5.0f} MB")
    for size in sizes:
        found = summary(result, size)
        print(
            f"  {size:3} runs: ÷ loop {found['over_loop']:.2f}, ÷ script "
            f"{found['over_script']:.2f}, {100 * found['share_of_peak']:.0f} % of "
            f"{max(result['peaks']) / 1e9:.0f} GFLOP/s"
        )


def main() -> None:
    """Measure, print, and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", nargs="+", default=list(RULES))
    parser.add_argument("--shapes", nargs="+", default=[f"{d}x{blocks}" for d, blocks in SHAPES])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    results = []
    for shape in args.shapes:
        width, blocks = map(int, shape.split("x"))
        for rule in args.rules:
            results.append(measure(Case(rule, width, blocks), args.sizes, args.rounds))
            show(results[-1], args.sizes)
            if args.json is not None:
                args.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
