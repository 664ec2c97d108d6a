"""Compare the CPU time of training with that of another checkout.

    python benchmarks/compare_checkouts.py path/to/other/.venv/bin/python --alternations 20

The checkouts take turns. Each trains the same steps of the same cohort in a new process, and the
order changes every time. The output is the median of the ratios (this checkout over the other) with
its 95 % interval by order statistics.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from math import comb

WORK = """
import sys, time
import torch
torch.set_num_threads(1)
from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.rules.choice import choose_rule
from depthgauge.tasks.base import Split, Task
from depthgauge.training.batches import Batches
from depthgauge.training.stacked_mlp.cohort import Cohort

rule, runs, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
generator = torch.Generator().manual_seed(0)
x = torch.randn(128 * steps, 3072, generator=generator)
y = torch.randint(0, 10, (128 * steps,), generator=generator)
task = Task("random", Split(x, y), Split(x[:128], y[:128]), 10)
choice = choose_rule(rule)
own = RuleConfig(name=rule, label=rule, options=choice.options.model_dump(mode="json"))
parts = dict(
    task=TaskConfig(name="random", checksum="0"),
    net=NetConfig(width=256, blocks=4),
    rule=own,
    recipe=Recipe(epochs=1),
)
configs = [RunConfig(**parts, k=4, seed=seed) for seed in range(runs)]
cohort = Cohort(configs, [choice.build() for _ in configs], task)
batches = list(Batches(task, cohort.seeds, 128, cohort.dtype, targets="true").epoch(0))
cohort.step(batches[0], 0.0)
began = time.process_time()
for number, batch in enumerate(batches):
    cohort.step(batch, number / steps)
print(time.process_time() - began)
"""


def measure(python: str, rule: str, runs: int, steps: int) -> float:
    """Return the CPU seconds of some steps in a new process."""
    command = [python, "-c", WORK, rule, str(runs), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def interval_of_median(values: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, by order statistics."""
    ordered, n = sorted(values), len(values)
    outside = 0
    while sum(comb(n, i) for i in range(outside + 1)) / 2**n <= 0.025:
        outside += 1
    return ordered[max(0, outside - 1)], ordered[n - max(1, outside)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", help="the Python of the other checkout")
    parser.add_argument("--rules", nargs="+", default=["bp", "dfa"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--alternations", type=int, default=20)
    args = parser.parse_args()
    for rule in args.rules:
        ratios = []
        for number in range(args.alternations):
            order = (sys.executable, args.other) if number % 2 else (args.other, sys.executable)
            seconds = {python: measure(python, rule, args.runs, args.steps) for python in order}
            ratios.append(seconds[sys.executable] / seconds[args.other])
        low, high = interval_of_median(ratios)
        median = {"rule": rule, "median": statistics.median(ratios), "low": low, "high": high}
        print(json.dumps(median | {"ratios": ratios}))


if __name__ == "__main__":
    main()
