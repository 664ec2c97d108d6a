"""The report page of one study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge.published.experiments import EXPERIMENTS, comparisons_with_published
from depthgauge.report.page.charts import options, page_charts
from depthgauge.report.page.page_data import page_data
from depthgauge.report.page.render import render_page
from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.report.score_words import words_of
from depthgauge.report.tables.ladder import ladder_table
from depthgauge.report.tables.networks import network_table
from depthgauge.report.tables.published import published_tables
from depthgauge.report.tables.runs import run_table
from depthgauge.report.tables.table import Table
from depthgauge.report.tables.utility import utility_table
from depthgauge.report.texts.audit import audit_sentences, brief_sentences, how_sure, studied
from depthgauge.report.texts.diagnostics import names_of, when_they_fire
from depthgauge.report.texts.floors import not_above
from depthgauge.report.texts.glossary import glossary
from depthgauge.report.texts.ladder import ladder_sentences
from depthgauge.report.texts.page_verdicts import answer, evidence, shown_word
from depthgauge.report.texts.published import published_sentences
from depthgauge.report.texts.study import dates_of, identity, state_of_study, versions_of
from depthgauge.report.texts.verdict_words import MEANINGS
from depthgauge.report.writers.latex_table import latex_table
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.results.ladder import Ladder
from depthgauge.results.rule import RuleResult
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_text


def write_study_page(study: StudyResult, output: Path | None = None) -> Path:
    """Write the report of a study to `output`, or else into the study's folder; return the path.

    The study may be unfinished.
    """
    path = output or study.folder / "report.html"
    write_text(path, study_page(study))
    return path


def study_page(study: StudyResult) -> str:
    """Return the report as HTML."""
    views, charts, reword = list(study.rules.values()), page_charts(study), words_of(study)
    template = reporting_template(study, dates_of(study))
    ladder = ladder_sentences(_several_rungs(study.ladder()), study.thresholds)
    context: dict[str, Any] = {
        "study": study,
        "views": views,
        "version": __version__,
        "reword": reword,
        "answer": answer(views),
        "studied": studied(study),
        "brief": list(map(reword, brief_sentences(study))),
        "how_sure": tuple(map(reword, how_sure(study))),
        "meanings": MEANINGS,
        "shown_word": shown_word,
        "glossary": glossary(study),
        "level": f"{100 * (1 - study.thresholds.error_rate_of_each):.1f}",
        "error_rate": f"{100 * study.thresholds.error_rate:g}",
        "ladder_words": list(map(reword, ladder)),
        "names_of": names_of,
        "when_they_fire": list(map(reword, when_they_fire())),
        "charts": charts,
        "options": options,
        "evidence": {view.label: reword(_evidence(study, view)) for view in views},
        "state": state_of_study(study),
        "identity": identity(study, dates_of(study), versions_of(study)),
        "ladder": ladder_table(study).reworded(reword),
        "networks": network_table(study).reworded(reword),
        "runs": run_table(study).reworded(reword),
        "utility": utility_table(study).reworded(reword) if study.audit else None,
        "published": _published(study),
        "reasons": list(map(reword, audit_sentences(study))),
        "template": {"Markdown": template.to_markdown(), "LaTeX": template.to_latex()},
        "paper": [(table, _table_texts(table, study)) for table in paper_tables(study)],
    }
    return render_page("study.html.j2", page_data(study, charts), context)


def _evidence(study: StudyResult, view: RuleResult) -> str:
    """Return whether the rule beats a linear classifier, and what each diagnostic found."""
    return " ".join(filter(None, (not_above(study.floors, view.label), evidence(view))))


def _several_rungs(ladder: Ladder) -> Ladder:
    """Return the ladder with only the rules that have several rungs."""
    rules = {label: rungs for label, rungs in ladder.rules.items() if len(rungs) > 1}
    return ladder.model_copy(update={"rules": rules})


def _table_texts(table: Table, study: StudyResult) -> dict[str, str]:
    """Return a table as texts to paste, by the name of their format."""
    return {
        "Markdown": markdown_table(table, caption=True),
        "LaTeX": latex_table(table, study.name),
    }


Part = tuple[str, Table, list[str]]


def _published(study: StudyResult) -> list[Part]:
    """Return each comparison with published figures: its title, its table and its sentences."""
    found: list[Part] = []
    for comparison in comparisons_with_published(study):
        title = EXPERIMENTS[comparison.experiment].title
        *before, last = published_tables(comparison)
        found += [(title, table, []) for table in before]
        found.append((title, last, published_sentences(comparison)))
    return found
