"""The settings that were tried: each with its accuracy on held-out samples."""

from __future__ import annotations

from depthgauge.number_format import percent_spread
from depthgauge.report.tables.table import Table, make_table, numbers, words
from depthgauge.results.study import StudyResult

CAPTION = "Accuracy in % of each setting on held-out training samples, and which was chosen."


def selection_table(study: StudyResult) -> Table:
    """Return every setting that was tried; the chosen settings are marked."""
    selections = study.audit.selection.values() if study.audit else ()
    rows = [
        [label, percent_spread(candidate.accuracy), "yes" if label == entry.chosen else ""]
        for entry in selections
        for label, candidate in entry.candidates.items()
    ]
    titles = [*words("setting"), *numbers("held-out accuracy"), *words("chosen")]
    return make_table("selection", CAPTION, titles, rows)
