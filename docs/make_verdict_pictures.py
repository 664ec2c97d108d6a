"""Pictures of used depth for docs/verdict.md, from the runs in reproduction/used-depth-teacher.

python docs/make_verdict_pictures.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import depthgauge as dg
from depthgauge.results.ladder import Rung
from depthgauge.results.ladder_runs import confirming_runs

ROOT = Path(__file__).resolve().parent.parent
STUDY, IMAGES = ROOT / "reproduction" / "used-depth-teacher", ROOT / "docs" / "images"
RULE, NOISE, ALONE, FAINT = "#1f5fa8", "#c2571a", "#2c7a3f", "#8a8a8a"
WIDE = 0.28


def draw_seeds(axes: Axes, x: float, shares: Sequence[float], colour: str) -> None:
    """Draw a dot for each seed, and a bar at their mean."""
    axes.plot([x] * len(shares), [100 * share for share in shares], "o", ms=4, c=colour, alpha=0.5)
    mean = 100 * fmean(shares)
    axes.plot([x - WIDE / 2, x + WIDE / 2], [mean, mean], c=colour, lw=3)


def values(rung: Rung) -> list[float]:
    """Return the accuracies of a rung, by seed."""
    return list(rung.accuracies.values())


def draw_twins(axes: Axes, rule: dg.RuleResult, title: str) -> None:
    """Draw a ladder, and beside each rung its swap twin."""
    for rung in rule.ladder:
        draw_seeds(axes, rung.k, values(rung), RULE)
    for twin in rule.twins:
        draw_seeds(axes, twin.k + WIDE, values(twin), NOISE)
    means = [100 * fmean(values(rung)) for rung in rule.ladder]
    axes.step([rung.k for rung in rule.ladder], means, where="mid", c=RULE, lw=0.8, alpha=0.5)
    label_axes(axes, title)


def add_legend(axes: Axes, place: str) -> None:
    """Say what the colours are."""
    axes.plot([], [], c=RULE, lw=3, label="rung k; a dot for each seed")
    axes.plot([], [], c=NOISE, lw=3, label="its swap twin: noise to the block it adds")
    axes.legend(frameon=False, loc=place)


def label_axes(axes: Axes, title: str) -> None:
    """Write what the axes are."""
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("k: how many of the last blocks are trained")
    axes.set_xticks(range(5))
    axes.spines[["top", "right"]].set_visible(False)


def draw_ladder_beside_twins(study: dg.StudyResult) -> Figure:
    """Draw backpropagation, whose rungs are above their twins, and noise, whose are not."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True)
    bp, noise = study["bp"], study["noise"]
    draw_twins(left, bp, f"backpropagation: {bp.used_depth}")
    draw_twins(right, noise, f"nothing but noise: {noise.used_depth}")
    left.set_ylabel("test accuracy, %")
    add_legend(right, "upper left")
    return figure


def draw_confirming_run(study: dg.StudyResult) -> Figure:
    """Draw a rule that trains two of four blocks, and the run that trains those alone."""
    rule = study["two_blocks"]
    depth = rule.used_depth
    own = [run for run in study.runs if run.label == rule.label]
    runs = confirming_runs(own, depth.earning_blocks)
    alone = [run.accuracy for run in runs]
    figure, axes = plt.subplots(figsize=(9.5, 3.8))
    draw_twins(axes, rule, f"the true gradient to blocks 0 and 2, nothing to 1 and 3: {depth}")
    draw_seeds(axes, 5, alone, ALONE)
    axes.plot([], [], c=ALONE, lw=3, label="confirming run: the earning blocks alone")
    add_legend(axes, "lower right")
    whole = 100 * fmean(values(rule.ladder[-1]))
    axes.axhspan(whole - 100 * depth.delta, whole, color=FAINT, alpha=0.3, lw=0)
    axes.text(0, whole + 0.4, "less than δ below the whole network", fontsize=9, color="#555555")
    axes.set_xticks(range(6), [*map(str, range(5)), "blocks 0\nand 2\nalone"])
    axes.set_ylabel("test accuracy, %")
    return figure


def main() -> None:
    """Write both pictures."""
    mpl.use("agg")
    study = dg.load(STUDY)
    for name, draw in {
        "used-depth-twins": draw_ladder_beside_twins,
        "used-depth-confirming": draw_confirming_run,
    }.items():
        figure = draw(study)
        figure.savefig(IMAGES / f"{name}.png", dpi=110, bbox_inches="tight")
        print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
