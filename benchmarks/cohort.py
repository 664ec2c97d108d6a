"""The cohort engine against plain loops, alternately in one run, on CIFAR-shaped data.

    python benchmarks/cohort.py [--rounds 5] [--json]

For BP and for DFA, 15 runs (3 seeds × k = 0 … 4) of a network with d = 256 and L = 4:

- engine: one one-thread cohort of 15 runs for each core, side by side, which is how the product
  trains a ladder of several rules;
- one cohort: a single cohort with all threads, which is how it trains a ladder of one rule;
- loop: a plain loop, one run at a time, all threads;
- loops: as many one-thread plain loops side by side as there are cores.

Each figure is a median over the rounds; between any two, the machine's own matrix-multiply peak is
measured. What counts is the ratio of the engine to the better of the two loops.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import statistics
import sys
import time
from collections.abc import Callable
from itertools import chain, count
from multiprocessing.connection import Connection

import torch
from plain_loop import PlainLoop

from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.rules.choice import choose_rule
from depthgauge.tasks.base import Pixels, Split, Task
from depthgauge.training.batches import Batches
from depthgauge.training.cohort import Cohort

WIDTH, BLOCKS, BATCH, CLASSES, FEATURES = 256, 4, 128, 10, 3072
EPOCH_STEPS = 391
SEEDS = (42, 123, 456)
KS = tuple(range(BLOCKS, -1, -1))
ENGINE_STEPS, LOOP_STEPS = 15, 15


def cifar_shaped() -> Task:
    """Random bytes in the shape of CIFAR-10."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(0, 256, (50_000, FEATURES), generator=generator, dtype=torch.uint8)
    y = torch.randint(0, CLASSES, (50_000,), generator=generator)
    pixels = Pixels(3, 32, 32, (0.5,) * 3, (0.25,) * 3)
    return Task("cifar-shaped", Split(x, y), Split(x[:1], y[:1]), CLASSES, pixels)


class OneCohort:
    """A cohort of 15 runs."""

    def __init__(self, task: Task, rule: str) -> None:
        choice = choose_rule(rule)
        configs = [
            RunConfig(
                task=TaskConfig(name=task.name, checksum=""),
                net=NetConfig(width=WIDTH, blocks=BLOCKS),
                rule=RuleConfig(name=rule, label=rule),
                recipe=Recipe(batch_size=BATCH),
                k=k,
                seed=seed,
            )
            for k in KS
            for seed in SEEDS
        ]
        self.cohort = Cohort(configs, [choice.build() for _ in configs], task)
        batches = Batches(task, self.cohort.seeds, BATCH)
        self.batches = chain.from_iterable(map(batches.epoch, count()))

    def run_steps(self) -> int:
        """Train; returns how many run-steps that was."""
        for _ in range(ENGINE_STEPS):
            self.cohort.step(next(self.batches), 0.0)
        return ENGINE_STEPS * len(self.cohort.configs)


class Loops:
    """Plain loops, one for each k, one after the other."""

    def __init__(self, task: Task, rule: str) -> None:
        self.loops = [PlainLoop(task, rule, WIDTH, BLOCKS, k) for k in KS]

    def run_steps(self) -> int:
        """Train each for some steps; returns how many run-steps that was."""
        for loop in self.loops:
            loop.steps(LOOP_STEPS)
        return LOOP_STEPS * len(self.loops)


Contender = type[OneCohort] | type[Loops]


def side_by_side_worker(connection: Connection, contender: Contender, rule: str) -> None:
    """One of the one-thread processes that train at the same time."""
    torch.set_num_threads(1)
    trainer = contender(cifar_shaped(), rule)
    connection.send(0)
    while connection.recv():
        connection.send(trainer.run_steps())


class SideBySide:
    """One one-thread process for each core."""

    def __init__(self, contender: Contender, rule: str, cores: int) -> None:
        context = mp.get_context("spawn")
        self.connections = []
        for _ in range(cores):
            ours, theirs = context.Pipe()
            arguments = (theirs, contender, rule)
            context.Process(target=side_by_side_worker, args=arguments, daemon=True).start()
            self.connections.append(ours)
        for connection in self.connections:
            connection.recv()

    def run_steps(self) -> int:
        """Let all of them train at once; returns how many run-steps that was."""
        for connection in self.connections:
            connection.send(True)
        return sum(connection.recv() for connection in self.connections)

    def stop(self) -> None:
        """End the processes."""
        for connection in self.connections:
            connection.send(False)


def peak_flops(size: int = 2048) -> float:
    """Floating-point operations a second of one large matrix product, all threads."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    began = time.perf_counter()
    a @ b
    return 2 * size**3 / (time.perf_counter() - began)


def flops_of_run_step(rule: str, k: int) -> float:
    """Operations in the matrix products of one run's step, counted from the shapes."""
    square, embed = 2 * BATCH * WIDTH**2, 2 * BATCH * FEATURES * WIDTH
    read = 2 * BATCH * WIDTH * CLASSES
    forward = embed + 2 * BLOCKS * square + read
    weights = embed + 2 * k * square + read
    if rule == "bp":
        return forward + weights + 2 * BLOCKS * square + read
    return forward + weights + 2 * k * square + BLOCKS * read


def measure(rule: str, rounds: int, cores: int) -> dict[str, object]:
    """Alternate the four and the peak; medians and ranges."""
    task = cifar_shaped()
    cohorts, loops = SideBySide(OneCohort, rule, cores), SideBySide(Loops, rule, cores)
    contenders: dict[str, Callable[[], int]] = {
        "engine": cohorts.run_steps,
        "one cohort": OneCohort(task, rule).run_steps,
        "loop": Loops(task, rule).run_steps,
        "loops": loops.run_steps,
    }
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    peaks: list[float] = []
    for number in range(rounds + 1):
        for name, contender in contenders.items():
            peaks.append(peak_flops())
            began = time.perf_counter()
            run_steps = contender()
            rate = run_steps / EPOCH_STEPS / (time.perf_counter() - began)
            if number:
                rates[name].append(rate)
        print(f"{rule}: round {number} of {rounds}", file=sys.stderr)
    cohorts.stop()
    loops.stop()
    middle = {name: statistics.median(values) for name, values in rates.items()}
    flops = statistics.fmean(flops_of_run_step(rule, k) for k in KS) * EPOCH_STEPS
    return {
        "rule": rule,
        "run_epochs_per_second": middle,
        "range": {name: [min(values), max(values)] for name, values in rates.items()},
        "engine_over_better_loop": middle["engine"] / max(middle["loop"], middle["loops"]),
        "peak_gflops": max(peaks) / 1e9,
        "engine_fraction_of_peak": middle["engine"] * flops / max(peaks),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    cores = os.cpu_count() or 1
    torch.set_num_threads(cores)
    results = [measure(rule, args.rounds, cores) for rule in ("bp", "dfa")]
    if args.json:
        print(json.dumps(results, indent=2))
        return
    for result in results:
        print(f"{result['rule']}, run-epochs per second (median of {args.rounds}, range):")
        for name, rate in result["run_epochs_per_second"].items():
            low, high = result["range"][name]
            print(f"  {name:10} {rate:.3f}  ({low:.3f} … {high:.3f})")
        print(f"  engine ÷ better loop   {result['engine_over_better_loop']:.2f}")
        print(f"  matrix-multiply peak   {result['peak_gflops']:.0f} GFLOP/s")
        print(f"  engine's share of it   {100 * result['engine_fraction_of_peak']:.0f} %")


if __name__ == "__main__":
    main()
