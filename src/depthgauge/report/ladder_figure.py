"""The ladder as a figure: accuracy over k, one curve for each rule, chance dotted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

STYLE: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "svg.hashsalt": "depthgauge",
}
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
CHANCE = "chance"
SUFFIXES = (".png", ".svg", ".pdf")


def draw_ladders(ladders: Sequence[dict[str, Any]], paths: Sequence[Path]) -> None:
    """Draw one panel for each ladder and save the figure to every path.

    A rule keeps its colour and marker over all panels.
    """
    rules = list(dict.fromkeys(rule for ladder in ladders for rule in ladder["summary"]))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, panels = plt.subplots(
            1,
            len(ladders),
            figsize=_size(len(ladders), [*rules, CHANCE]),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        handles: dict[str, Any] = {}
        for axes, ladder in zip(panels[0], ladders, strict=True):
            handles |= _draw_panel(axes, ladder, rules)
        panels[0][0].set_ylabel("accuracy (%)")
        order = (*rules, CHANCE)
        figure.legend(
            [handles[label] for label in order],
            [_plain(label) for label in order],
            loc="outside right center",
            frameon=False,
        )
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, dpi=160, metadata=metadata)
        plt.close(figure)


def _size(panels: int, labels: Sequence[str]) -> tuple[float, float]:
    """Inches: a panel is 4.2 wide, and the legend beside it as wide and high as its labels."""
    longest = max(len(label) for label in labels)
    return 4.2 * panels + max(1.6, 0.8 + 0.08 * longest), max(3.8, 0.6 + 0.2 * len(labels))


def _plain(text: str) -> str:
    """Text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")


def _draw_panel(axes: Axes, ladder: dict[str, Any], rules: Sequence[str]) -> dict[str, Any]:
    """Draw one ladder; returns what the legend shows for each label."""
    handles: dict[str, Any] = {}
    config = ladder["config"]
    for rule, rungs in ladder["summary"].items():
        index = rules.index(rule)
        points = sorted((int(k), r) for k, r in rungs.items() if r["mean"] is not None)
        handles[rule] = axes.errorbar(
            [k for k, _ in points],
            [100 * rung["mean"] for _, rung in points],
            yerr=[100 * (rung["std"] or 0.0) for _, rung in points],
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
            capsize=3,
            label=rule,
        )
    handles[CHANCE] = axes.axhline(100 * config["chance"], linestyle=":", color="0.4", label=CHANCE)
    blocks = config["net"]["blocks"]
    axes.set_xticks(range(blocks + 1))
    axes.set_xlim(-0.3, blocks + 0.3)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"k: trained blocks, counted from the last of {blocks}")
    name, width = _plain(config["task"]["name"]), config["net"]["width"]
    axes.set_title(f"{name}, width {width}, {blocks} blocks")
    return handles
