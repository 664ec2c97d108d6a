"""Where the time of a step goes, operation by operation, and how near products come to the peak.

One one-thread cohort on each core, side by side, under torch's profiler; the machine's peak is
measured between. Embeddings of runs that share their images are multiplied together (`addmm`,
`mm`, oneDNN's), all other weights run by run (`bmm`, `baddbmm`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from .cases import Case
from .engine import Engine
from .flops import LINEAR, CountedProducts, peak_flops
from .middle import Middle
from .processes import Processes

STEPS = 10
PARTS = {
    "products of embeddings": ("addmm", "mm", *LINEAR),
    "products run by run": ("bmm", "baddbmm"),
    "AdamW": ("_fused_adamw_",),
    "GELU and LayerNorm": (
        *("gelu", "gelu_", "gelu_backward", "native_layer_norm", "native_layer_norm_backward"),
    ),
}
REST = "sums, copies, the rest"


class Profiled(Engine):
    """A cohort that tells of every part the seconds and the operations of a run-step."""

    def train(self, steps: int) -> Any:
        """Some steps without evaluation."""
        with CountedProducts() as counted:
            self.cohort.step(next(self.batches), 0.0)
        with torch.profiler.profile(activities=[ProfilerActivity.CPU]) as profile:
            for _ in range(steps):
                self.cohort.step(next(self.batches), 0.0)
        runs, found = len(self.cohort.configs), {name: [0.0, 0.0] for name in (*PARTS, REST)}
        for event in profile.key_averages():
            own = event.self_cpu_time_total / 1e6 / (steps * runs)
            found[_part(event.key.rpartition("::")[2])][0] += own
        for operation, flops in counted.by_operation.items():
            found[_part(operation)][1] += flops / runs
        return found


def _part(operation: str) -> str:
    return next((name for name, own in PARTS.items() if operation in own), REST)


def measure(case: Case, runs: int, rounds: int, on_round: Callable[[], None]) -> dict[str, Any]:
    """Of every part the seconds in each round, and its operations; the peaks between."""
    cores = torch.get_num_threads()
    processes, peaks = Processes(Profiled, case, runs, cores), []
    seconds: dict[str, list[float]] = {name: [] for name in (*PARTS, REST)}
    flops: dict[str, float] = {}
    for _ in range(rounds):
        peaks.append(peak_flops() / cores)
        for told in processes.train(STEPS, count=cores, threads=1):
            for name, (own, operations) in told.items():
                seconds[name].append(own)
                flops[name] = operations
        on_round()
    processes.stop()
    known = {"rule": case.rule, "width": case.width, "blocks": case.blocks, "runs": runs}
    return known | {"seconds": seconds, "flops": flops, "peaks_of_a_core": peaks}


def text(result: dict[str, Any]) -> str:
    """A line for each part: milliseconds of a run-step, its share, and its share of the peak."""
    whole = sum(Middle.of(own).median for own in result["seconds"].values())
    best = max(result["peaks_of_a_core"])
    peaks = Middle.of([peak / 1e9 for peak in result["peaks_of_a_core"]])
    case = Case(result["rule"], result["width"], result["blocks"])
    lines = [f"{case}, {result['runs']} runs; peak of a core: {peaks:.0f} GFLOP/s"]
    for name, own in result["seconds"].items():
        middle, flops = Middle.of([1e3 * second for second in own]), result["flops"][name]
        share = 100 * middle.median / 1e3 / whole
        line = f"  {name:24} {middle:.2f} ms, {share:3.0f} %"
        if name in list(PARTS)[:2]:
            rate = flops / middle.median * 1e3
            line += f", {rate / 1e9:.0f} GFLOP/s, {100 * rate / best:.0f} % of the best peak"
        lines.append(line)
    return "\n".join(lines)
