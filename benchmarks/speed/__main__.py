"""How fast the cohort engine is, where its time goes, how it grows, and what the gauges cost.

    python -m speed [ratios | profile | parts | growth | gauges | memory] [--rules bp dfa] ...

- ratios: to the best plain loop and to what people do today, with memory and operations.
- profile: operation by operation, and how near products come to the peak.
- parts: data, forward, credit, update, evaluation, diagnostics, storage.
- growth: cost and memory against runs, batch, width, depth, samples and epochs.
- gauges: each gauge beside an epoch of training.
- memory: of a process that trains a cohort, predicted and measured.

Everything is measured alternately, on data in the shape of CIFAR-10: medians over rounds, with
their range. Nothing else should run on the machine.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from depthgauge.store.files import write_json
from depthgauge.store.provenance import environment

from .expected import Expected
from .flops import peak_flops
from .jobs import jobs_of
from .progress import Progress
from .settings import read_settings

TRIES = 3
"""Of the peak, for the time that everything will take."""


def main() -> None:
    """Measure, print, and write down what is there after every case."""
    settings = read_settings(__doc__)
    peak = max(peak_flops() for _ in range(TRIES))
    jobs = jobs_of(settings, Expected(peak, torch.get_num_threads()))
    progress = Progress(sum(job.expected for job in jobs))
    found: dict[str, list[Any]] = {kind: [] for kind in settings.kinds}
    known = {"environment": environment(), "settings": asdict(settings) | {"json": None}}
    for job in jobs:
        advance = partial(progress.advance, job.name, job.expected / settings.rounds)
        result = job.measure(advance)
        found[job.kind].append(result)
        print(job.text(result), flush=True)
        if settings.json is not None:
            write_json(settings.json, known | found)


if __name__ == "__main__":
    main()
