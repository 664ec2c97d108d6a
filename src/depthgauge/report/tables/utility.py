"""The table of decision utility: how many networks each way of reporting walks back.

To walk a network back is to withdraw the claim that the rule trains the network's depth.
"""

from __future__ import annotations

from depthgauge.number_format import count_of
from depthgauge.report.tables.table import Table, make_table, numbers, words
from depthgauge.results.study import StudyResult

CAPTION = (
    "Decision utility: how many networks of each rule a way of reporting walks back, of those that "
    "it can decide. The ways: accuracy alone (walks back if not 2 points above chance), accuracy "
    "with mean Γ (also if that is not above 0), accuracy with a diagnostic (also if that fires)."
)


def utility_table(study: StudyResult) -> Table:
    """Return one row for each rule: how many networks each way of reporting walks back."""
    utility = study.audit.decision_utility if study.audit else {}
    labels = list(dict.fromkeys(label for counts in utility.values() for label in counts))
    titles = [way.removeprefix("accuracy + ").replace("mean ", "") for way in utility]
    rows = [
        [label, *(count_of(counts.get(label)) for counts in utility.values())] for label in labels
    ]
    return make_table("utility", CAPTION, [*words("rule"), *numbers(*titles)], rows)
