"""What each rule reaches, and what it would reach without training its blocks."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.report.audit_table import percent
from depthgauge.report.paper.numbers import spread
from depthgauge.report.paper.paper_table import PaperTable
from depthgauge.report.paper.rule_words import accuracy_words, frozen, gain
from depthgauge.report.paper.section import Item, Section
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.rule_views import RuleView


def headline(study: Gathered, views: Sequence[RuleView]) -> Section:
    """Chance, and a table of accuracies."""
    unit = "" if study.chance is None else " %"
    items = [Item("Chance", percent(study.chance) + unit)]
    if not views:
        items.append(Item("Rules", "none has been trained yet"))
    rows = [
        [view.method, str(view.accuracy["n"]), spread(view.accuracy), frozen(view), gain(view)]
        for view in views
    ]
    caption = f"Headline: {accuracy_words(study, views)}; frozen: blocks as they were initialised."
    header = ["rule", "n", "accuracy", "frozen", "gain from depth"]
    return Section(
        "Headline", tuple(items), (PaperTable("headline", study.name, caption, header, rows),)
    )
