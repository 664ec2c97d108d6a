"""The speed of the engine, as ratios to the best plain loop and to a typical script.

The contenders of a case take turns, each in processes of its own. Before each turn the machine's
peak of matrix products is measured. All figures include the loading of data, and evaluation in
proportion. They are medians over the rounds, with their range.

- script: one run at a time, a DataLoader of PIL images, an optimizer for each block.
- loop, loops: the best plain loop, in one process with all threads, or in one per core with one.
- engine N, engines N: cohorts of N runs, one with all threads, or one per core with one thread.
- engines N bf16: engines N with products in bfloat16, if the processor has them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from depthgauge.nets.stacked.products import multiplies_bf16

from .cases import Case
from .engine import Engine
from .flops import peak_flops
from .loop import Loop
from .median_range import MedianRange
from .process_group import ProcessGroup
from .processes import Processes
from .script import Script

PAUSE = 0.3
"""The seconds between two turns, in which background work of the last contender ends."""


def groups_of(case: Case, sizes: Sequence[int], cores: int) -> dict[str, ProcessGroup]:
    """Return every contender by name, ready to train."""
    ladder = case.blocks + 1
    groups = {"script": ProcessGroup(Processes(Script, case, ladder), 1, cores)}
    both_ways = [("loop", "", Processes(Loop, case, ladder, cores))]
    both_ways += [("engine", f" {runs}", Processes(Engine, case, runs, cores)) for runs in sizes]
    for name, size, processes in both_ways:
        groups[f"{name}{size}"] = ProcessGroup(processes, 1, cores)
        groups[f"{name}s{size}"] = ProcessGroup(processes, cores, 1)
    if multiplies_bf16(torch.device("cpu")):
        rounded = replace(case, dtype="bf16")
        groups |= {
            f"engines {runs} bf16": ProcessGroup(Processes(Engine, rounded, runs, cores), cores, 1)
            for runs in sizes
        }
    return groups


def measure(
    case: Case,
    sizes: Sequence[int],
    rounds: int,
    seconds: float,
    on_round: Callable[[], None],
) -> dict[str, Any]:
    """Let the contenders take turns of about so many seconds; return run-epochs per second."""
    groups = groups_of(case, sizes, torch.get_num_threads())
    flops = {processes: processes.flops() for processes in {c.processes for c in groups.values()}}
    steps = {name: group.steps_in(seconds) for name, group in groups.items()}
    rates: dict[str, list[float]] = {name: [] for name in groups}
    peaks: list[float] = []
    for _ in range(rounds):
        for name, group in groups.items():
            time.sleep(PAUSE)
            peaks.append(peak_flops())
            began = time.perf_counter()
            done = group.train(steps[name])
            rates[name].append(done / case.epoch_steps / (time.perf_counter() - began))
        on_round()
    held = {processes: processes.stop() for processes in flops}
    return {
        "rule": case.rule,
        "width": case.width,
        "blocks": case.blocks,
        "sizes": list(sizes),
        "rates": rates,
        "ratios": {str(size): ratios(rates, size) for size in sizes},
        "peaks": peaks,
        "memory_bytes": {name: held[group.processes].peak for name, group in groups.items()},
        "flops_of_a_run_epoch": {
            name: flops[group.processes] * case.epoch_steps for name, group in groups.items()
        },
    }


def ratios(rates: Mapping[str, list[float]], size: int) -> dict[str, list[float]]:
    """Return the ratios of the faster engine to the faster loop and to the script, by round.

    If bfloat16 was measured, return also its ratio to float32, both with one thread per core.
    """
    engine = _better(rates[f"engine {size}"], rates[f"engines {size}"])
    over = {
        "loop": (engine, _better(rates["loop"], rates["loops"])),
        "script": (engine, rates["script"]),
    }
    if (rounded := f"engines {size} bf16") in rates:
        over["bf16"] = (rates[rounded], rates[f"engines {size}"])
    return {
        name: [ours / theirs for ours, theirs in zip(*pair, strict=True)]
        for name, pair in over.items()
    }


def _better(*rates: list[float]) -> list[float]:
    """Return the rates with the higher median."""
    return max(rates, key=statistics.median)


def text(result: dict[str, Any]) -> str:
    """Write one case as a table, each line with its share of the machine's peak."""
    peaks = MedianRange.of([measured / 1e9 for measured in result["peaks"]])
    case = Case(result["rule"], result["width"], result["blocks"])
    lines = [f"{case}; the machine's peak: {peaks:.0f} GFLOP/s"]
    for name, rates in result["rates"].items():
        rate, flops = MedianRange.of(rates), result["flops_of_a_run_epoch"][name]
        share = 100 * rate.median * flops / max(result["peaks"])
        memory = result["memory_bytes"][name] / 2**20
        lines.append(
            f"  {name:15} {rate:.3f} run-epochs/s, {share:3.0f} % of the peak, {memory:5.0f} MB"
        )
    for size, over in result["ratios"].items():
        loop, script = MedianRange.of(over["loop"]), MedianRange.of(over["script"])
        line = f"  {size:>3} runs: ÷ loop {loop:.2f}, ÷ script {script:.2f}"
        if "bf16" in over:
            line += f", bf16 ÷ float32 {MedianRange.of(over['bf16']):.2f}"
        lines.append(line)
    return "\n".join(lines)
