"""Measure the report of a large study: the size of the page, and the time to make and to open it.

The study is invented, but its files are real: 500 runs of 100 epochs (10 rules, k = 0 … 4, 10
seeds), and an audit of 100 networks that repeats one real reading. Headless Chromium times the
opening from the beginning of the navigation: until text shows, until the page is ready and the
visible charts are drawn, and until all charts are drawn. The page of a study of one run takes turns
with the large one.

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

import depthgauge as dg
from depthgauge.config import NetConfig, Recipe, RuleConfig, RunConfig, SharedConfig, TaskConfig
from depthgauge.results.audit import Audit
from depthgauge.results.audit_parts import Source
from depthgauge.store.provenance import environment
from depthgauge.store.study_folder import StudyFolder

CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
BLOCKS = 4


def make_study(folder: Path, rules: int, seeds: int, epochs: int) -> None:
    """Write runs with random readings, and an audit of those that train all blocks."""
    random, provenance = Random(0), environment() | {"wall_seconds": 100.0}
    task = TaskConfig(name="teacher", checksum="0" * 64)
    net, recipe = NetConfig(blocks=BLOCKS), Recipe(epochs=epochs)
    study = StudyFolder(folder)
    study.open(SharedConfig(task=task, net=net, recipe=recipe), "cpu", 1, 1)
    networks: dict[str, dict[int, str]] = {}
    for number in range(rules):
        rule = RuleConfig(name="dfa", label=f"dfa[epsilon={number}]", options={"epsilon": number})
        for k in range(BLOCKS + 1):
            for seed in range(seeds):
                config = RunConfig(task=task, net=net, rule=rule, recipe=recipe, k=k, seed=seed)
                run = study.run(config)
                run.create()
                lines = [_line(epoch, random) for epoch in range(epochs + 1)]
                run.metrics_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
                run.finish(provenance)
                if k == BLOCKS:
                    networks.setdefault(rule.label, {})[seed] = config.identity
    (folder / "audit.json").write_text(make_audit(folder, networks).model_dump_json())


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


def make_audit(folder: Path, networks: dict[str, dict[int, str]]) -> Audit:
    """Return the audit of one small network, with its reading repeated for every network."""
    small = folder.parent / f"{folder.name}-small"
    audit = dg.audit(rules=["bp", "dfa"], seeds=[1], epochs=1, width=16, out=str(small)).audit
    assert audit is not None
    (read,), verdict = audit.of_label("dfa"), audit.verdicts["dfa"]
    repeated = [
        read.model_copy(update={"label": label, "seed": seed, "source": Source(run=identity)})
        for label, runs in networks.items()
        for seed, identity in runs.items()
    ]
    update = {"networks": tuple(repeated), "verdicts": dict.fromkeys(networks, verdict)}
    return audit.model_copy(update=update)


def seconds_to_open(browser: Browser, page: Path) -> dict[str, float]:
    """Return the seconds until text shows, until the page is ready, and until all is drawn."""
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
    """Print sizes and times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name, default in (("rules", 10), ("seeds", 10), ("epochs", 100), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        large, small = Path(place) / "large", Path(place) / "small"
        make_study(large, args.rules, args.seeds, args.epochs)
        make_study(small, 1, 1, 1)
        began = time.perf_counter()
        page = dg.load(large).report()
        made = time.perf_counter() - began
        pages = {"large": page, "small": dg.load(small).report()}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(args.rounds):
            for name, path in pages.items():
                for mark, seconds in seconds_to_open(browser, path).items():
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
