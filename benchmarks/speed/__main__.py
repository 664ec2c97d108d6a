"""Measure the speed and the memory of the cohort engine, and the cost of the gauges.

    python -m speed [ratios | profile | parts | growth | gauges | memory] [--rules bp dfa] ...

- ratios: speed compared with the best plain loop and with a typical script, memory, operations.
- profile: the time of a step by operation, and the speed of products compared with the peak.
- parts: the time of data, forward, credit, update, evaluation, diagnostics and storage.
- growth: cost and memory over runs, batch, width, depth, samples and epochs.
- gauges: the time of each gauge compared with an epoch of training.
- memory: the estimated and the measured memory of a process that trains a cohort.

Contenders take turns, on data in the shape of CIFAR-10. Figures are medians over rounds, with their
range. Run nothing else on the machine.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from depthgauge.store.files import write_json
from depthgauge.store.provenance import environment

from .flops import peak_flops
from .jobs import jobs_of
from .progress import Progress
from .settings import read_settings
from .time_estimate import TimeEstimate

TRIES = 3
"""The number of measurements of the machine's peak, for the estimate of the time."""


def main() -> None:
    """Measure case by case; print and save the results after each."""
    settings = read_settings(__doc__)
    peak = max(peak_flops() for _ in range(TRIES))
    jobs = jobs_of(settings, TimeEstimate(peak, torch.get_num_threads()))
    progress = Progress(sum(job.seconds for job in jobs))
    results: dict[str, list[Any]] = {kind: [] for kind in settings.kinds}
    conditions = {"environment": environment(), "settings": asdict(settings) | {"json": None}}
    for job in jobs:
        advance = partial(progress.advance, job.name, job.seconds / settings.rounds)
        result = job.measure(advance)
        results[job.kind].append(result)
        print(job.text(result), flush=True)
        if settings.json is not None:
            write_json(settings.json, conditions | results)


if __name__ == "__main__":
    main()
