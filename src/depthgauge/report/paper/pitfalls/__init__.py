"""The checklist of pitfalls: which pitfalls a study avoids, and which pitfalls apply to it."""

from __future__ import annotations

from depthgauge.report.paper.pitfalls.judging import pitfalls_of_judging
from depthgauge.report.paper.pitfalls.measuring import pitfalls_of_measuring
from depthgauge.report.paper.pitfalls.runs import pitfalls_of_runs
from depthgauge.report.paper.section import APPLIES, AVOIDED, NOT_MEASURED, Item, Section
from depthgauge.results.study import StudyResult

MARKS = Item(
    "Marks", f"{AVOIDED} avoided, {APPLIES} applies here, {NOT_MEASURED} not measured here"
)


def pitfalls(study: StudyResult) -> Section:
    """Return the section with the checklist of a study."""
    items = (
        MARKS,
        *pitfalls_of_measuring(study),
        *pitfalls_of_runs(study),
        *pitfalls_of_judging(study),
    )
    return Section("Pitfalls", items)
