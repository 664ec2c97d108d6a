"""Pictures of used depth for docs/verdict.md, from the runs in reproduction/used-depth-teacher.

python docs/make_verdict_pictures.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

import depthgauge as dg
from depthgauge.results.ladder import Rung
from depthgauge.results.used_depth_of_runs import confirming_runs

ROOT = Path(__file__).resolve().parent.parent
STUDY, IMAGES = ROOT / "reproduction" / "used-depth-teacher", ROOT / "docs" / "images"

RUNG = "rung k; a dot for each seed, a bar for the mean"
TWIN = "its swap twin: noise to the block that it adds"
ALONE = "confirming run: the earning blocks alone"
COLOURS = {RUNG: "#1f5fa8", TWIN: "#c2571a", ALONE: "#2c7a3f"}
BESIDE = 0.28
"""A twin stands so far beside its rung."""

Rows = list[dict[str, Any]]


def rows_of(rungs: Sequence[Rung], kind: str, beside: float = 0.0) -> Rows:
    """Return a row for each seed of each rung."""
    return [
        {"place": rung.k + beside, "accuracy": 100 * accuracy, "kind": kind}
        for rung in rungs
        for accuracy in rung.accuracies.values()
    ]


def draw(rows: Rows, title: str, axis: alt.Axis, width: int) -> alt.LayerChart:
    """Draw a dot for each seed, and a bar at the mean over seeds."""
    kinds = [kind for kind in COLOURS if any(row["kind"] == kind for row in rows)]
    scale = alt.Scale(domain=kinds, range=[COLOURS[kind] for kind in kinds])
    base = alt.Chart(alt.InlineData(rows), title=alt.Title(title, anchor="start")).encode(
        x=alt.X("place:Q", axis=axis, scale=alt.Scale(padding=20)),
        color=alt.Color(
            "kind:N",
            scale=scale,
            legend=alt.Legend(title=None, orient="bottom", labelLimit=400, symbolOpacity=1),
        ),
    )
    heights = alt.Y("accuracy:Q", title="test accuracy, %", scale=alt.Scale(zero=False))
    dots = base.mark_point(filled=True, size=25, opacity=0.5).encode(y=heights)
    bars = base.mark_tick(thickness=3, size=18, orient="horizontal").encode(
        y=alt.Y("mean(accuracy):Q")
    )
    return alt.layer(dots, bars).properties(width=width, height=260)


def axis_of(**options: Any) -> alt.Axis:
    """Return the axis of k."""
    return alt.Axis(title="k: how many of the last blocks are trained", grid=False, **options)


def draw_ladder_beside_twins(study: dg.StudyResult) -> alt.ConcatChart:
    """Draw backpropagation, whose rungs are above their twins, and noise, whose are not."""
    titles = {"bp": "backpropagation", "noise": "nothing but noise"}
    panels = [
        draw(
            rows_of(study[label].ladder, RUNG) + rows_of(study[label].twins, TWIN, BESIDE),
            f"{title}: {study[label].used_depth}",
            axis_of(values=list(range(5)), format="d"),
            width=340,
        )
        for label, title in titles.items()
    ]
    return alt.concat(*panels, columns=2).resolve_scale(y="shared")


def draw_confirming_run(study: dg.StudyResult) -> alt.LayerChart:
    """Draw a rule that trains two of four blocks, and the run that trains those alone."""
    rule = study["two_blocks"]
    depth = rule.used_depth
    own = [run for run in study.runs if run.label == rule.label]
    alone = [
        {"place": 5, "accuracy": 100 * run.accuracy, "kind": ALONE}
        for run in confirming_runs(own, depth.earning_blocks)
    ]
    whole = 100 * rule.ladder[-1].mean
    chart = draw(
        rows_of(rule.ladder, RUNG) + rows_of(rule.twins, TWIN, BESIDE) + alone,
        f"the true gradient to blocks 0 and 2, nothing to 1 and 3: {depth}",
        axis_of(
            values=list(range(6)),
            format="d",
            labelExpr="datum.value < 5 ? datum.label : 'confirming'",
        ),
        width=720,
    )
    band = alt.Chart(alt.InlineData([{"low": whole - 100 * depth.delta, "high": whole}])).mark_rect(
        color="#8a8a8a", opacity=0.3
    )
    text = alt.Chart(alt.InlineData([{"place": 0, "high": whole}])).mark_text(
        text="less than δ below the whole network", align="left", dy=-7, color="#555555"
    )
    return alt.layer(
        band.encode(y="low:Q", y2="high:Q"), text.encode(x="place:Q", y="high:Q"), chart
    )


def main() -> None:
    """Write both pictures."""
    study = dg.load(STUDY)
    pictures = {
        "used-depth-twins": draw_ladder_beside_twins,
        "used-depth-confirming": draw_confirming_run,
    }
    for name, draw_picture in pictures.items():
        draw_picture(study).save(IMAGES / f"{name}.png", scale_factor=1.4)
        print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
