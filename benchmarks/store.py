"""What the store costs beside training, at the scale of CIFAR-10, in one run.

    python benchmarks/store.py [--rounds 5] [--json]

A cohort of 15 runs (3 seeds × k = 0 … 4, d = 256, L = 4) in one thread, on CIFAR-shaped data: a
few steps, one checkpoint of all runs, one line of metrics for each, one sign of life, in turn. The
share of a store operation is its time over the time between two of its kind: a checkpoint every
minute, metrics every epoch, a sign of life every two seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from cohort import EPOCH_STEPS, OneCohort, cifar_shaped

from depthgauge.store.claims import BEAT_EVERY, Claims
from depthgauge.store.recorder import StoreRecorder
from depthgauge.store.run_folder import RunFolder
from depthgauge.training.engine import Epoch

SAVE_EVERY = 60.0
STEPS = 5


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Measured:
    """A cohort and its folders."""

    def __init__(self, folder: Path, rule: str) -> None:
        self.trained = OneCohort(cifar_shaped(), rule)
        self.cohort, self.epoch = self.trained.cohort, 0
        self.folders = [RunFolder(folder / "runs", config) for config in self.cohort.configs]
        for one in self.folders:
            one.create()
        self.recorder = StoreRecorder(self.folders)
        claim = Claims(folder / "claims").take("one")
        assert claim is not None
        self.claim = claim
        self.record()
        self.steps()

    def steps(self) -> None:
        """Some steps of training."""
        for _ in range(STEPS):
            self.cohort.step(next(self.trained.batches), 0.0)

    def save(self) -> None:
        """A checkpoint of every run, newer than the last."""
        self.epoch += 1
        self.recorder.save(Epoch(self.cohort, self.epoch).states())

    def record(self) -> None:
        """One line of metrics for every run."""
        norms = [1.5] * 5
        line = {"epoch": self.epoch, "accuracy": 0.5, "diverged": False}
        line |= {"h_norm": norms, "g_norm": norms}
        self.recorder.record_epoch([line for _ in self.folders])

    def beat(self) -> None:
        """A sign of life."""
        self.claim.beat({"steps": 1, "epoch": 1, "label": "bp"})


def measure(rule: str, rounds: int) -> dict[str, float]:
    """Medians in seconds, and the share of the store in per cent."""
    with tempfile.TemporaryDirectory() as place:
        measured = Measured(Path(place), rule)
        work = {
            "step": measured.steps,
            "save": measured.save,
            "record": measured.record,
            "beat": measured.beat,
        }
        times: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(rounds):
            for name, one in work.items():
                times[name].append(seconds(one))
    median = {name: statistics.median(values) for name, values in times.items()}
    median["step"] /= STEPS
    share = (
        median["save"] / (SAVE_EVERY + median["save"])
        + median["record"] / (EPOCH_STEPS * median["step"])
        + median["beat"] / BEAT_EVERY
    )
    return median | {"store, % of training": 100 * share}


def main() -> None:
    """Print a table or one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    results = {rule: measure(rule, args.rounds) for rule in ("bp", "dfa")}
    if args.json:
        print(json.dumps(results, indent=2))
        return
    for rule, figures in results.items():
        print(rule, ", ".join(f"{name} {value:.3g}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
