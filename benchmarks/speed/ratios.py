"""How fast the engine is, as ratios to the best plain loop and to what people do today.

All contenders of a case train alternately in one run, each in processes of its own; between any two
the machine's own matrix-multiply peak is measured. Everything includes data, and evaluation in its
proportion. Figures are medians over the rounds, with their range.

- script: one run at a time, a DataLoader of PIL images, an optimizer for each block.
- loop, loops: the best plain loop, in one process with all threads, and one-thread on each core.
- engine N, engines N: cohorts of N runs, one with all threads, and one-thread on each core.
- engines N bf16: the same with products in bfloat16, where the processor has them.
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
from .crew import Crew
from .engine import Engine
from .flops import peak_flops
from .loop import Loop
from .middle import Middle
from .processes import Processes
from .script import Script

PAUSE = 0.3
"""Seconds between two contenders: what one still does in the background is over by then."""


def crews_of(case: Case, sizes: Sequence[int], cores: int) -> dict[str, Crew]:
    """Every contender, ready to train."""
    ladder = case.blocks + 1
    found = {"script": Crew(Processes(Script, case, ladder), 1, cores)}
    both_ways = [("loop", "", Processes(Loop, case, ladder, cores))]
    both_ways += [("engine", f" {runs}", Processes(Engine, case, runs, cores)) for runs in sizes]
    for name, size, processes in both_ways:
        found[f"{name}{size}"] = Crew(processes, 1, cores)
        found[f"{name}s{size}"] = Crew(processes, cores, 1)
    if multiplies_bf16(torch.device("cpu")):
        rounded = replace(case, dtype="bf16")
        found |= {
            f"engines {runs} bf16": Crew(Processes(Engine, rounded, runs, cores), cores, 1)
            for runs in sizes
        }
    return found


def measure(
    case: Case,
    sizes: Sequence[int],
    rounds: int,
    seconds: float,
    on_round: Callable[[], None],
) -> dict[str, Any]:
    """Alternate, each contender for about so many seconds; run-epochs a second of every round."""
    crews = crews_of(case, sizes, torch.get_num_threads())
    flops = {processes: processes.flops() for processes in {c.processes for c in crews.values()}}
    steps = {name: crew.steps_in(seconds) for name, crew in crews.items()}
    rates: dict[str, list[float]] = {name: [] for name in crews}
    peaks: list[float] = []
    for _ in range(rounds):
        for name, crew in crews.items():
            time.sleep(PAUSE)
            peaks.append(peak_flops())
            began = time.perf_counter()
            done = crew.train(steps[name])
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
        "memory_bytes": {name: held[crew.processes].peak for name, crew in crews.items()},
        "flops_of_a_run_epoch": {
            name: flops[crew.processes] * case.epoch_steps for name, crew in crews.items()
        },
    }


def ratios(rates: Mapping[str, list[float]], size: int) -> dict[str, list[float]]:
    """The better way of cohorts of one size, over the better loop and over the script.

    Where bfloat16 was measured also what it gains, both with one thread on each core.
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
    """Those that are higher on the whole."""
    return max(rates, key=statistics.median)


def text(result: dict[str, Any]) -> str:
    """One case as a table, each line with its share of the peak."""
    peaks = Middle.of([measured / 1e9 for measured in result["peaks"]])
    case = Case(result["rule"], result["width"], result["blocks"])
    lines = [f"{case}; the machine's peak: {peaks:.0f} GFLOP/s"]
    for name, rates in result["rates"].items():
        rate, flops = Middle.of(rates), result["flops_of_a_run_epoch"][name]
        share = 100 * rate.median * flops / max(result["peaks"])
        memory = result["memory_bytes"][name] / 2**20
        lines.append(
            f"  {name:15} {rate:.3f} run-epochs/s, {share:3.0f} % of the peak, {memory:5.0f} MB"
        )
    for size, over in result["ratios"].items():
        loop, script = Middle.of(over["loop"]), Middle.of(over["script"])
        line = f"  {size:>3} runs: ÷ loop {loop:.2f}, ÷ script {script:.2f}"
        if "bf16" in over:
            line += f", bf16 ÷ float32 {Middle.of(over['bf16']):.2f}"
        lines.append(line)
    return "\n".join(lines)
