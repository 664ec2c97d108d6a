"""The report of one study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge.published.experiments import EXPERIMENTS, comparisons_with_published
from depthgauge.report.audit_words import audit_words
from depthgauge.report.diagnostic_words import names_of, when_they_fire
from depthgauge.report.floor_words import not_above
from depthgauge.report.ladder_words import ladder_words
from depthgauge.report.page import tables, words
from depthgauge.report.page.charts import options, page_charts
from depthgauge.report.page.data import page_data
from depthgauge.report.page.glossary import glossary
from depthgauge.report.page.render import render_page
from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.report.published_table import published_tables, published_words
from depthgauge.results.ladder import Ladder
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_text


def write_study_page(study: StudyResult, output: Path | None = None) -> Path:
    """Write the report of a study, as far as it is done; into its folder if nowhere else."""
    path = output or study.folder / "report.html"
    write_text(path, study_page(study))
    return path


def study_page(study: StudyResult) -> str:
    """Return the report as HTML."""
    views, charts = list(study.rules.values()), page_charts(study)
    context: dict[str, Any] = {
        "study": study,
        "views": views,
        "version": __version__,
        "answer": words.answer(views),
        "meanings": words.MEANINGS,
        "shown_word": words.shown_word,
        "glossary": glossary(study),
        "level": f"{100 * (1 - study.thresholds.error_rate_of_each):.1f}",
        "error_rate": f"{100 * study.thresholds.error_rate:g}",
        "ladder_words": ladder_words(_several_rungs(study.ladder()), study.thresholds),
        "names_of": names_of,
        "when_they_fire": when_they_fire(),
        "charts": charts,
        "options": options,
        "evidence": {view.label: _evidence(study, view) for view in views},
        "state": words.state_of_study(study),
        "identity": words.identity(study, words.dates_of(study), words.versions_of(study)),
        "ladder": tables.ladder_table(views, study.floors),
        "networks": tables.network_table(views),
        "runs": tables.runs_table(study),
        "utility": tables.utility_rows(study),
        "published": _published(study),
        "reasons": audit_words(study),
        "template": reporting_template(study, words.dates_of(study)),
        "paper": paper_tables(study),
    }
    return render_page("study.html.j2", page_data(study, charts), context)


def _evidence(study: StudyResult, view: RuleResult) -> str:
    """First whether the rule beats a linear classifier, then what each diagnostic found."""
    return " ".join(filter(None, (not_above(study.floors, view.label), words.evidence(view))))


def _several_rungs(ladder: Ladder) -> Ladder:
    """The ladders of rules that have several rungs."""
    rules = {label: rungs for label, rungs in ladder.rules.items() if len(rungs) > 1}
    return ladder.model_copy(update={"rules": rules})


Part = tuple[str, tables.PageTable, list[str]]


def _published(study: StudyResult) -> list[Part]:
    """What was published beside what was measured: title, table, and what it comes to."""
    found: list[Part] = []
    for comparison in comparisons_with_published(study):
        title = EXPERIMENTS[comparison.experiment].title
        *before, last = (tables.plain_table(*table) for table in published_tables(comparison))
        found += [(title, table, []) for table in before]
        found.append((title, last, published_words(comparison)))
    return found
