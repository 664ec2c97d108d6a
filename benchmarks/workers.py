"""Time the embedded study with one worker process, and with one for each core, in turn.

    python benchmarks/workers.py [--rounds 3] [--rules bp fa dfa] [--json]

A single worker has all threads and the largest possible cohorts. Several workers have one thread
each, and cohorts that keep all of them busy to the end. The time includes start-up and tables, as
for a user.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from depthgauge.scheduling.resources import available_cores


def seconds(rules: list[str], threads: int) -> float:
    """Return the seconds of the whole command."""
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        subprocess.run(
            [
                *(sys.executable, "-m", "depthgauge.cli.main", "ladder", "--rules", *rules),
                *("--threads", str(threads), "--out", os.path.join(place, "study"), "--json"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - began


def main() -> None:
    """Print the figures as lines or as one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rules", nargs="+", default=["bp", "fa", "dfa"])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    cores = available_cores()
    pairs = [(seconds(args.rules, cores), seconds(args.rules, 1)) for _ in range(args.rounds)]
    ratios = [alone / several for alone, several in pairs]
    figures = {
        "cores": cores,
        "one worker, s": [round(alone, 1) for alone, _ in pairs],
        "a worker for each core, s": [round(several, 1) for _, several in pairs],
        "times as fast, median": round(statistics.median(ratios), 3),
        "times as fast, least and most": [round(min(ratios), 3), round(max(ratios), 3)],
    }
    if args.json:
        print(json.dumps(figures, indent=2))
        return
    for name, figure in figures.items():
        print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
