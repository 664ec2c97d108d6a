"""Compare the ladder of the cohort engine with that of another way of training.

    python benchmarks/same_ladder.py plain|bf16 --out FOLDER [--seeds 42 123 456]

Six rules, every k, the embedded task with its network and recipe, one thread. There is a study for
each way: the cohort engine in float32, and the plain engine, or the cohort engine with bfloat16
products. The same command continues where it stopped.

The two ways round differently, and training amplifies that, so that runs of one seed differ. The
yardstick is the difference between seeds: see `seed_noise.py`. Chance alone may put a rung beyond
it; the output says how often. For each rung a t interval, corrected for the number of rungs, says
whether the two ways differ. A bias would show first in the mean over all rungs.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seed_noise import Rung, by_chance, over_all

import depthgauge as dg
from depthgauge.results.ladder import Rung as StudyRung
from depthgauge.results.study import StudyResult
from depthgauge.store.files import make_folder, write_json, write_text
from depthgauge.store.provenance import environment

RULES = ("bp", "fa", "dfa", "state_bridge", "credit_bridge", "ep")
WAYS: dict[str, dict[str, str]] = {
    "cohort": {"engine": "cohort", "dtype": "float32"},
    "plain": {"engine": "plain", "dtype": "float32"},
    "bf16": {"engine": "cohort", "dtype": "bf16"},
}
REPRODUCTION = Path(__file__).parents[1] / "reproduction"
MACHINE = ("version", "commit", "python", "torch", "libraries", "processor", "cores", "system")
"""The fields of the environment that are written down."""
HEADER = ("largest of a seed", "seed noise", "within it", "told apart")


def train(way: str, out: Path, seeds: list[int]) -> StudyResult:
    """Train the ladders in one way."""
    fixed = {"device": "cpu", "threads": 1, "cohort": 15, "twins": False, "floors": False}
    return dg.ladder(rules=list(RULES), seeds=seeds, out=str(out / way), **WAYS[way], **fixed)


def compare(cohort: StudyResult, other: StudyResult, seeds: list[int]) -> list[Rung]:
    """Return every rung of every rule, trained in both ways."""
    return [
        Rung(rule, first.k, accuracies(rule, first, seeds), accuracies(rule, second, seeds))
        for rule in RULES
        for first, second in zip(cohort[rule].ladder, other[rule].ladder, strict=True)
    ]


def accuracies(rule: str, rung: StudyRung, seeds: list[int]) -> dict[int, float]:
    """Return the accuracies of one rung by seed; a missing or diverged run ends the comparison."""
    missing = [seed for seed in seeds if seed not in rung.accuracies]
    if missing:
        raise SystemExit(f"{rule} at k = {rung.k} has no accuracy for the seeds {missing}")
    return {seed: rung.accuracies[seed] for seed in seeds}


def table(rungs: list[Rung], way: str) -> str:
    """Write a row for each rung: accuracies in per cent, differences in points."""
    header = ["rule", "k", "cohort", way, f"{way} − cohort", "95 % interval", *HEADER]
    rows = [header, ["---"] * len(header), *(row(rung, len(rungs)) for rung in rungs)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def row(rung: Rung, rungs: int) -> list[str]:
    """Return the cells of one rung."""
    low, high = rung.ends
    facts = rung.to_dict(rungs)
    return [
        *(rung.rule, str(rung.k)),
        *(f"{100 * mean:.1f}" for mean in (rung.change.first, rung.change.other)),
        *(points(facts["mean_difference"]), f"[{points(low)}, {points(high)}]"),
        *(f"{100 * facts[name]:.2f}" for name in ("largest_difference", "seed_noise")),
        *("yes" if facts[name] else "no" for name in ("agrees", "told_apart")),
    ]


def points(share: float) -> str:
    """Write a difference of accuracies in points."""
    return f"{100 * share:+.2f}".replace("-", "−")


def words(rungs: list[Rung], seeds: list[int]) -> str:
    """Write the result in sentences."""
    whole, agreeing = over_all(rungs), sum(rung.agrees for rung in rungs)
    low, high = whole.ends
    apart = sum(rung.told_apart(len(rungs)) for rung in rungs)
    return (
        f"{agreeing} of {len(rungs)} rungs agree within seed noise ({len(seeds)} seeds; if the two "
        f"runs of a seed were independent, chance would put {by_chance(len(seeds)):.0%} beyond "
        f"it). By the corrected intervals {apart} differ. The mean difference over all rungs is "
        f"{points(whole.change.other - whole.change.first)} points, 95 % interval "
        f"[{points(low)}, {points(high)}].\n"
    )


def write(way: str, rungs: list[Rung], studies: dict[str, StudyResult], seeds: list[int]) -> None:
    """Write the figures and their provenance into `reproduction`."""
    known = environment()
    document: dict[str, Any] = {
        "command": f"python benchmarks/same_ladder.py {way} --seeds {' '.join(map(str, seeds))}",
        "provenance": {name: known.get(name) for name in MACHINE}
        | {"runs_trained_at": {name: commits(study) for name, study in studies.items()}},
        "config": studies[way].config.model_dump(mode="json"),
        "by_chance": by_chance(len(seeds)),
        "all_rungs": asdict(over_all(rungs).change),
        "rungs": [rung.to_dict(len(rungs)) for rung in rungs],
    }
    folder = make_folder(REPRODUCTION / f"{way}-teacher")
    write_json(folder / "agreement.json", document)
    write_text(folder / "agreement.md", f"{table(rungs, way)}\n{words(rungs, seeds)}")


def commits(study: StudyResult) -> list[str]:
    """Return the commits of the software that trained a study's runs."""
    return sorted({str(run.provenance.get("commit")) for run in study.runs})


def main() -> None:
    """Train the missing runs, print the table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("way", choices=[way for way in WAYS if way != "cohort"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 123, 456])
    args = parser.parse_args()
    studies = {way: train(way, args.out, args.seeds) for way in ("cohort", args.way)}
    rungs = compare(studies["cohort"], studies[args.way], args.seeds)
    write(args.way, rungs, studies, args.seeds)
    print(f"{table(rungs, args.way)}\n{words(rungs, args.seeds)}")


if __name__ == "__main__":
    main()
