"""The report of a large study: how large its page is, and how long it takes to make and to open.

The study is made up, its files are not: 500 runs of 100 epochs (10 rules, k = 0 … 4, 10 seeds),
with an audit of its 100 networks that repeats one real reading. Opening is timed by headless
Chromium itself, from the beginning of the navigation: until text shows, until the page is ready and
the charts in sight are drawn, and until all are; alternately with the page of a study of one run.

    python benchmarks/report.py [--rules 10] [--seeds 10] [--epochs 100] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from depthgauge.cli.main import main as depthgauge
from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, TaskConfig
from depthgauge.report.page.study_page import write_study_page
from depthgauge.store.provenance import environment
from depthgauge.store.study_folder import StudyFolder

CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
BLOCKS = 4


def make_study(folder: Path, rules: int, seeds: int, epochs: int) -> None:
    """Runs whose readings wander at random, and an audit of those with all blocks trained."""
    random, provenance = Random(0), environment() | {"wall_seconds": 100.0}
    task = TaskConfig(name="teacher", checksum="0" * 64)
    net, recipe = NetConfig(blocks=BLOCKS), Recipe(epochs=epochs)
    study = StudyFolder(folder)
    base = {"task": task, "net": net, "recipe": recipe}
    study.open({name: part.model_dump(mode="json") for name, part in base.items()}, "cpu", 1, 1)
    full: dict[str, dict[int, str]] = {}
    for number in range(rules):
        rule = RuleConfig(name="dfa", label=f"dfa[scale={number}]", options={"scale": number})
        for k in range(BLOCKS + 1):
            for seed in range(seeds):
                config = RunConfig(task=task, net=net, rule=rule, recipe=recipe, k=k, seed=seed)
                run = study.run(config)
                run.create()
                lines = [_line(epoch, random) for epoch in range(epochs + 1)]
                run.metrics_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
                run.finish(provenance)
                if k == BLOCKS:
                    full.setdefault(rule.label, {})[seed] = config.identity
    (folder / "audit.json").write_text(json.dumps(make_audit(folder, full)))


def _line(epoch: int, random: Random) -> dict[str, Any]:
    norms = {name: [random.lognormvariate(0, 2) for _ in range(BLOCKS + 1)] for name in "hg"}
    return {
        "epoch": epoch,
        "train_loss": random.random(),
        "accuracy": random.random(),
        "h_norm": norms["h"],
        "g_norm": norms["g"],
        "g_over_e": random.random(),
        "diverged": False,
    }


def make_audit(folder: Path, full: dict[str, dict[int, str]]) -> dict[str, Any]:
    """A real audit of one small network, its reading repeated for every network of the study."""
    small = folder.parent / f"{folder.name}-small"
    options = ["--rules", "bp", "dfa", "--seeds", "1", "--epochs", "1", "--width", "16"]
    depthgauge(["audit", *options, "--out", str(small), "--json"])
    audit: dict[str, Any] = json.loads((small / "audit.json").read_text())
    verdict = audit["verdicts"]["dfa"]
    network = next(one for one in audit["networks"] if one["label"] == "dfa")
    audit["verdicts"], audit["networks"] = {}, []
    for label, runs in full.items():
        audit["verdicts"][label] = verdict
        for seed, identity in runs.items():
            source = network["source"] | {"run": identity, "frozen_run": None}
            audit["networks"].append(network | {"label": label, "seed": seed, "source": source})
    return audit


def seconds_to_open(browser: Browser, page: Path) -> dict[str, float]:
    """Until the page is ready, and until everything has been drawn."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-drawn=yes]", state="attached")
    marks = tab.evaluate(
        "['paint', 'mark'].flatMap(type => performance.getEntriesByType(type))"
        ".map(entry => [entry.name, entry.startTime])"
    )
    tab.close()
    return {name: milliseconds / 1000 for name, milliseconds in marks}


def main() -> None:
    """Print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name, default in (("rules", 10), ("seeds", 10), ("epochs", 100), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        large, small = Path(place) / "large", Path(place) / "small"
        make_study(large, args.rules, args.seeds, args.epochs)
        make_study(small, 1, 1, 1)
        began = time.perf_counter()
        page = write_study_page(large)
        made = time.perf_counter() - began
        pages = {"large": page, "small": write_study_page(small)}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(args.rounds):
            for name, one in pages.items():
                for mark, seconds in seconds_to_open(browser, one).items():
                    times.setdefault((name, mark), []).append(seconds)
        browser.close()
        runs = args.rules * args.seeds * (BLOCKS + 1)
        print(f"{runs} runs of {args.epochs} epochs: {page.stat().st_size / 1e6:.1f} MB")
        print(f"made in {made:.1f} s")
        for (name, mark), taken in times.items():
            spread = f"{min(taken):.2f} to {max(taken):.2f}"
            print(f"{name:6} {mark} after {statistics.median(taken):.2f} s ({spread})")
        for mark in ("ready", "drawn"):
            large_, small_ = (statistics.median(times[name, mark]) for name in pages)
            print(f"large over small, {mark}: {large_ / small_:.2f}")


if __name__ == "__main__":
    main()
