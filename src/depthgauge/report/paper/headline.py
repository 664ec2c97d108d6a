"""The reporting template's section on each rule's accuracies, with trained and frozen blocks."""

from __future__ import annotations

from depthgauge.number_format import percent
from depthgauge.report.paper.section import Item, Section
from depthgauge.report.tables.verdicts import verdict_table
from depthgauge.report.texts.captions import accuracy_words
from depthgauge.results.study import StudyResult

COLUMNS = ("rule", "n", "accuracy", "frozen", "gain", "used depth")


def headline(study: StudyResult) -> Section:
    """Return the section: the accuracy of chance, and a table of accuracies."""
    unit = "" if study.chance is None else " %"
    items = [Item("Chance", percent(study.chance) + unit)]
    if not study.rules:
        items.append(Item("Rules", "none has been trained yet"))
    caption = (
        f"Headline: {accuracy_words(study)}; frozen: blocks as they were initialised; "
        "used depth: how many blocks earn accuracy."
    )
    table = verdict_table(study).only(*COLUMNS).called("headline", caption)
    return Section("Headline", tuple(items), (table,))
