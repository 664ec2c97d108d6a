"""Does another way of training come to the same ladder on the embedded task as the cohort engine?

    python benchmarks/same_ladder.py plain|bf16 --out FOLDER [--seeds 42 123 456] [--dry-run]

Six rules, every k, the task's own network and recipe; a study for each way, in one thread: the
cohort engine in float32, and the plain engine, or the cohort engine with bfloat16 products. The
same command goes on where it was stopped.

They round differently, and training makes that grow, so that runs of one seed come apart. The
yardstick is what another seed does: see `seed_noise.py`. Chance alone may put a rung beyond it, and
how often is said. Of such a rung the t interval, corrected for the number of rungs, says whether
the two can be told apart. A bias of one of them would show first over all rungs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from seed_noise import Rung, by_chance, ends, over_all

from depthgauge.report.audit_table import percent
from depthgauge.report.durations import in_words
from depthgauge.report.paper.markdown import markdown_table
from depthgauge.report.side_by_side_table import points
from depthgauge.store.files import make_folder, write_json, write_text
from depthgauge.store.provenance import environment

RULES = ("bp", "fa", "dfa", "state_bridge", "credit_bridge", "ep")
WAYS = {
    "cohort": ("--engine", "cohort", "--dtype", "float32"),
    "plain": ("--engine", "plain", "--dtype", "float32"),
    "bf16": ("--engine", "cohort", "--dtype", "bf16"),
}
RECORDS = Path(__file__).parents[1] / "reproduction"
MACHINE = ("version", "commit", "python", "torch", "libraries", "processor", "cores", "system")
"""What of the environment is written down."""


def ladder(way: str, out: Path, seeds: list[int], *more: str) -> dict[str, Any]:
    """What the command prints; its status is 1 where a run has diverged."""
    arguments = [
        *(sys.executable, "-m", "depthgauge.cli.main", "ladder", "--rules", *RULES),
        *("--k", "all", "--seeds", *map(str, seeds), *WAYS[way]),
        *("--device", "cpu", "--threads", "1", "--cohort", "15"),
        *("--out", str(out / way), "--json", *more),
    ]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    return dict(json.loads(done.stdout))


def compare(cohort: dict[str, Any], other: dict[str, Any], seeds: list[int]) -> list[Rung]:
    """Every rule and k."""
    return [
        Rung(rule, int(k), *(accuracies(one, rule, k, seeds) for one in (cohort, other)))
        for rule in RULES
        for k in sorted(cohort["results"][rule], key=int)
    ]


def accuracies(one: dict[str, Any], rule: str, k: str, seeds: list[int]) -> dict[int, float]:
    """By seed; a run that is missing or has diverged ends the comparison."""
    found = {seed: one["results"][rule][k][str(seed)]["final_acc"] for seed in seeds}
    if None in found.values():
        raise SystemExit(f"{rule} at k = {k} has diverged: {found}")
    return found


def table(rungs: list[Rung], way: str) -> str:
    """One row for each rung: accuracies in per cent, differences in points."""
    header = ["rule", "k", "cohort", way, f"{way} − cohort", "95 % interval"]
    header += ["largest of a seed", "seed noise", "within it", "told apart"]
    return markdown_table(header, [row(rung, len(rungs)) for rung in rungs])


def row(rung: Rung, rungs: int) -> list[str]:
    """One of the table."""
    low, high = map(points, ends(rung.change))
    shown = rung.to_dict(rungs)
    return [
        *(rung.rule, str(rung.k), percent(rung.change.first), percent(rung.change.other)),
        *(points(shown["mean_difference"]), f"[{low}, {high}]"),
        *(f"{100 * shown[name]:.2f}" for name in ("largest_difference", "seed_noise")),
        *("yes" if shown[name] else "no" for name in ("agrees", "told_apart")),
    ]


def words(rungs: list[Rung], seeds: list[int]) -> str:
    """The table in sentences."""
    whole, agree = over_all(rungs), sum(rung.agrees for rung in rungs)
    low, high = map(points, ends(whole))
    apart = sum(rung.told_apart(len(rungs)) for rung in rungs)
    return (
        f"{agree} of {len(rungs)} rungs agree within seed noise ({len(seeds)} seeds; were one "
        f"seed's two runs independent, chance would put {by_chance(len(seeds)):.0%} beyond it). "
        f"The corrected intervals tell {apart} apart. Over all rungs the difference is "
        f"{points(whole.other - whole.first)} points, 95 % interval [{low}, {high}].\n"
    )


def record(way: str, rungs: list[Rung], ladders: list[dict[str, Any]], seeds: list[int]) -> None:
    """Write the figures down, with where they come from."""
    known = environment()
    trained = {
        name: sorted({run["commit"] for run in runs_of(one)})
        for name, one in zip(("cohort", way), ladders, strict=True)
    }
    document = {
        "command": f"python benchmarks/same_ladder.py {way} --seeds {' '.join(map(str, seeds))}",
        "provenance": {name: known[name] for name in MACHINE} | {"runs_trained_at": trained},
        "config": ladders[0]["config"],
        "by_chance": by_chance(len(seeds)),
        "all_rungs": over_all(rungs).to_dict(),
        "rungs": [rung.to_dict(len(rungs)) for rung in rungs],
    }
    folder = make_folder(RECORDS / f"{way}-teacher")
    write_json(folder / "agreement.json", document)
    write_text(folder / "agreement.md", f"{table(rungs, way)}\n{words(rungs, seeds)}")


def runs_of(one: dict[str, Any]) -> list[dict[str, Any]]:
    """Every run of a ladder."""
    rungs = [rung for rule in RULES for rung in one["results"][rule].values()]
    return [run for rung in rungs for run in rung.values()]


def main() -> None:
    """Train what is left, print the table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("way", choices=[way for way in WAYS if way != "cohort"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 123, 456])
    parser.add_argument("--dry-run", action="store_true", help="say how long it takes")
    args = parser.parse_args()
    if args.dry_run:
        for way in ("cohort", args.way):
            expected = ladder(way, args.out, args.seeds, "--dry-run")["expected"]
            print(f"{way}: about {in_words(expected['seconds'])}")
        return
    ladders = [ladder(way, args.out, args.seeds) for way in ("cohort", args.way)]
    rungs = compare(*ladders, args.seeds)
    record(args.way, rungs, ladders, args.seeds)
    print(f"{table(rungs, args.way)}\n{words(rungs, args.seeds)}")


if __name__ == "__main__":
    main()
