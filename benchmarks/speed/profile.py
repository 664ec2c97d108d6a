"""The time of a step by operation, and the speed of products compared with the machine's peak.

Each core trains one cohort with one thread, under torch's profiler. The machine's peak is measured
between the rounds. The embeddings of runs that share their images are multiplied together (`addmm`,
`mm`, oneDNN's products), all other weights run by run (`bmm`, `baddbmm`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from .cases import Case
from .engine import Engine
from .flops import LINEAR, CountedProducts, peak_flops
from .median_range import MedianRange
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
    """A cohort that measures the seconds and the operations of every part of a run-step."""

    def train(self, steps: int) -> Any:
        """Train some steps without evaluation; return seconds and operations by part."""
        with CountedProducts() as counted:
            self.cohort.step(next(self.batches), 0.0)
        with torch.profiler.profile(activities=[ProfilerActivity.CPU]) as profile:
            for _ in range(steps):
                self.cohort.step(next(self.batches), 0.0)
        runs, by_part = len(self.cohort.configs), {name: [0.0, 0.0] for name in (*PARTS, REST)}
        for event in profile.key_averages():
            seconds = event.self_cpu_time_total / 1e6 / (steps * runs)
            by_part[_part(event.key.rpartition("::")[2])][0] += seconds
        for operation, flops in counted.by_operation.items():
            by_part[_part(operation)][1] += flops / runs
        return by_part


def _part(operation: str) -> str:
    return next((name for name, own in PARTS.items() if operation in own), REST)


def measure(case: Case, runs: int, rounds: int, on_round: Callable[[], None]) -> dict[str, Any]:
    """Return the seconds of every part in each round, its operations, and the machine's peaks."""
    cores = torch.get_num_threads()
    processes, peaks = Processes(Profiled, case, runs, cores), []
    seconds: dict[str, list[float]] = {name: [] for name in (*PARTS, REST)}
    flops: dict[str, float] = {}
    for _ in range(rounds):
        peaks.append(peak_flops() / cores)
        for by_part in processes.train(STEPS, count=cores, threads=1):
            for name, (own, operations) in by_part.items():
                seconds[name].append(own)
                flops[name] = operations
        on_round()
    processes.stop()
    known = {"rule": case.rule, "width": case.width, "blocks": case.blocks, "runs": runs}
    return known | {"seconds": seconds, "flops": flops, "peaks_of_a_core": peaks}


def text(result: dict[str, Any]) -> str:
    """Write a line for each part: milliseconds of a run-step, its share, its share of the peak."""
    whole = sum(MedianRange.of(own).median for own in result["seconds"].values())
    best = max(result["peaks_of_a_core"])
    peaks = MedianRange.of([peak / 1e9 for peak in result["peaks_of_a_core"]])
    case = Case(result["rule"], result["width"], result["blocks"])
    lines = [f"{case}, {result['runs']} runs; peak of a core: {peaks:.0f} GFLOP/s"]
    for name, own in result["seconds"].items():
        figure, flops = MedianRange.of([1e3 * second for second in own]), result["flops"][name]
        share = 100 * figure.median / 1e3 / whole
        line = f"  {name:24} {figure:.2f} ms, {share:3.0f} %"
        if name in list(PARTS)[:2]:
            rate = flops / figure.median * 1e3
            line += f", {rate / 1e9:.0f} GFLOP/s, {100 * rate / best:.0f} % of the best peak"
        lines.append(line)
    return "\n".join(lines)
