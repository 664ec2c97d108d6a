"""Several studies on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge.report import side_by_side_table as rows
from depthgauge.report import side_by_side_words as words
from depthgauge.report.page.chart_data import chart_data
from depthgauge.report.page.charts import compared_charts
from depthgauge.report.page.render import render_page
from depthgauge.report.page.tables import plain_table
from depthgauge.results.comparison import Comparison
from depthgauge.store.files import write_text
from depthgauge.verdict.thresholds import Thresholds


def write_compared_page(compared: Comparison, path: Path) -> None:
    """Write the page."""
    write_text(path, compared_page(compared))


def compared_page(compared: Comparison) -> str:
    """The same tables and words as in the terminal, with ladders and diagnostics drawn."""
    charts = compared_charts(compared, _thresholds(compared))
    context: dict[str, Any] = {
        "version": __version__,
        "names": [study.name for study in compared.studies],
        "to": compared.to,
        "studies": words.study_words(compared),
        "rules": plain_table(*rows.rule_table(compared)),
        "no_rule": words.NO_RULE,
        "differences": [
            (
                "same",
                "The same rule in several studies",
                plain_table(*rows.same_rule_table(compared)),
                words.same_rule_words(compared),
                words.NO_SAME_RULE,
            ),
            (
                "against",
                f"Each rule against {compared.to}",
                plain_table(*rows.against_table(compared)),
                words.against_words(compared),
                words.nothing_against(compared),
            ),
        ],
        "how_to_read": words.HOW_TO_READ,
        "charts": charts,
        "own_thresholds": len({study.thresholds for study in compared.results}) > 1,
    }
    data = {"runs": {}, "readings": {}} | chart_data(charts.panels)
    return render_page("compared.html.j2", data, context)


def _thresholds(compared: Comparison) -> Thresholds:
    """Those by which all studies were judged; where they differ, the protocol's."""
    used = {study.thresholds for study in compared.results}
    return used.pop() if len(used) == 1 else Thresholds()
