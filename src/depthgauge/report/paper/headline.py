"""What each rule reaches, and what it would reach without training its blocks."""

from __future__ import annotations

from depthgauge.number_format import percent, percent_spread
from depthgauge.report.audit_table import depth_cell
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.rule_words import accuracy_words, frozen, gain
from depthgauge.report.paper.section import Item, Section
from depthgauge.results.study import StudyResult


def headline(study: StudyResult) -> Section:
    """Chance, and a table of accuracies."""
    unit = "" if study.chance is None else " %"
    items = [Item("Chance", percent(study.chance) + unit)]
    if not study.rules.values():
        items.append(Item("Rules", "none has been trained yet"))
    rows = [
        [
            view.label,
            str(view.accuracy.n),
            percent_spread(view.accuracy),
            frozen(view),
            gain(view, study.thresholds),
            depth_cell(view.used_depth),
        ]
        for view in study.rules.values()
    ]
    caption = (
        f"Headline: {accuracy_words(study)}; frozen: blocks as they were initialised; "
        "used depth: how many blocks earn accuracy."
    )
    header = ["rule", "n", "accuracy", "frozen", "gain from depth", "used depth"]
    return Section(
        "Headline", tuple(items), (PaperTable("headline", study.name, caption, header, rows),)
    )
