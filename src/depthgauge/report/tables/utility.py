"""Decision utility: how many networks of each rule each way of reporting walks back."""

from __future__ import annotations

from depthgauge.number_format import count_of
from depthgauge.report.tables.table import Table, make_table, numbers, words
from depthgauge.results.study import StudyResult

CAPTION = (
    "Decision utility: networks of each rule that would be walked back if only this were "
    "reported: accuracy (not above chance by 2 points) alone, with the mean of Γ (not above 0), "
    "and with one diagnostic besides; out of those that it can decide."
)


def utility_table(study: StudyResult) -> Table:
    """Return for each rule how many of its networks each way of reporting walks back."""
    utility = study.audit.decision_utility if study.audit else {}
    labels = list(dict.fromkeys(label for counts in utility.values() for label in counts))
    titles = [way.removeprefix("accuracy + ").replace("mean ", "") for way in utility]
    rows = [
        [label, *(count_of(counts.get(label)) for counts in utility.values())] for label in labels
    ]
    return make_table("utility", CAPTION, [*words("rule"), *numbers(*titles)], rows)
