"""The page that compares several studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge.report.page.chart_data import chart_data
from depthgauge.report.page.charts import compared_charts
from depthgauge.report.page.render import render_page
from depthgauge.report.score_words import Reword, reworder
from depthgauge.report.tables import comparison as tables
from depthgauge.report.texts import comparison as texts
from depthgauge.results.comparison import Comparison
from depthgauge.store.files import write_text
from depthgauge.verdict.thresholds import Thresholds


def write_compared_page(compared: Comparison, path: Path) -> None:
    """Write the file of the page that compares studies."""
    write_text(path, compared_page(compared))


def compared_page(compared: Comparison) -> str:
    """Return the page as HTML: charts of all rules, and the tables and sentences of a terminal."""
    charts, reword = compared_charts(compared, _thresholds(compared)), reworder(compared.score)
    context: dict[str, Any] = {
        "version": __version__,
        "names": [study.name for study in compared.studies],
        "to": compared.to,
        "studies": texts.study_sentences(compared),
        "reword": reword,
        "rules": tables.rule_table(compared).reworded(reword),
        "no_rule": texts.NO_RULE,
        "differences": [
            (
                "same",
                "The same rule in several studies",
                tables.same_rule_table(compared).reworded(reword),
                _reworded(texts.same_rule_sentences(compared), reword),
                texts.NO_SAME_RULE,
            ),
            (
                "against",
                f"Each rule against {compared.to}",
                tables.against_table(compared).reworded(reword),
                _reworded(texts.against_sentences(compared), reword),
                texts.nothing_against(compared),
            ),
        ],
        "how_to_read": reword(texts.HOW_TO_READ),
        "charts": charts,
        "own_thresholds": len({study.thresholds for study in compared.results}) > 1,
    }
    data = {"runs": {}, "readings": {}} | chart_data(charts.panels)
    return render_page("compared.html.j2", data, context)


def _reworded(sentences: Mapping[str, Sequence[str]], reword: Reword) -> dict[str, list[str]]:
    return {heading: list(map(reword, own)) for heading, own in sentences.items()}


def _thresholds(compared: Comparison) -> Thresholds:
    """Return the thresholds of all studies; if studies differ, return the protocol's thresholds."""
    used = {study.thresholds for study in compared.results}
    return used.pop() if len(used) == 1 else Thresholds()
