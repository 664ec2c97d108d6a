"""The report of one study."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from depthgauge import __version__
from depthgauge.report.audit_comparison import audit_comparison_tables, audit_comparison_words
from depthgauge.report.audit_words import audit_words
from depthgauge.report.comparison_table import HEADER, comparison_rows, comparison_words
from depthgauge.report.figures.all import figures_of
from depthgauge.report.figures.style import one_pdf
from depthgauge.report.ladder_words import ladder_words
from depthgauge.report.page import tables, words
from depthgauge.report.page.data import page_data
from depthgauge.report.page.glossary import glossary
from depthgauge.report.page.render import render_page
from depthgauge.report.paper.tables import paper_tables
from depthgauge.report.paper.template import reporting_template
from depthgauge.report.thirty_comparison import thirty_comparison_tables, thirty_comparison_words
from depthgauge.store.files import write_text
from depthgauge.studies.counterparts import (
    audit_counterpart,
    ladder_counterpart,
    thirty_counterpart,
)
from depthgauge.studies.gathered import Gathered, gather
from depthgauge.studies.read_networks import audit_as_called
from depthgauge.studies.rule_views import RuleView, rule_views


def write_study_page(folder: Path, output: Path | None = None) -> Path:
    """Write the report of a study, as far as it is done; into its folder if nowhere else."""
    path = output or folder / "report.html"
    write_text(path, study_page(gather(folder)))
    return path


def study_page(study: Gathered) -> str:
    """The report as HTML."""
    views = rule_views(study)
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
        "ladder_words": ladder_words(_ladder(views), study.thresholds),
        "diagnostics": words.DIAGNOSTICS,
        "evidence": {view.method: words.evidence(view) for view in views},
        "state": words.state_of_study(study),
        "identity": words.identity(study, words.dates_of(study), words.versions_of(study)),
        "ladder": tables.ladder_table(views),
        "networks": tables.network_table(views),
        "runs": tables.runs_table(study),
        "utility": tables.utility_rows(study),
        "published": _published(study),
        "reasons": audit_words(audit) if (audit := audit_as_called(study)) else [],
        "template": reporting_template(study, views, words.dates_of(study)),
        "paper": paper_tables(study, views),
        "figures": _figures(study, views),
    }
    return render_page("study.html.j2", page_data(study, views), context)


def _ladder(views: Sequence[RuleView]) -> dict[str, Any]:
    """The ladders of rules that have several rungs, as the words want them."""
    several = [view for view in views if len(view.ladder) > 1]
    rungs = {v.method: {str(r.k): {"mean": r.mean} for r in v.ladder} for v in several}
    return {"summary": rungs, "results": {method: {} for method in rungs}}


def _figures(study: Gathered, views: Sequence[RuleView]) -> tuple[list[str], str]:
    """The names of the figures, and the address that holds a PDF with a page for each."""
    drawn = figures_of(study, views)
    content = one_pdf(list(drawn.values())) if drawn else b""
    return list(drawn), f"data:application/pdf;base64,{b64encode(content).decode()}"


Part = tuple[str, tables.PageTable, list[str]]


def _published(study: Gathered) -> list[Part]:
    """What was published beside what was measured: title, table, and what it comes to."""
    found: list[Part] = []
    if (ladder := ladder_counterpart(study)) is not None:
        shown = tables.plain_table(HEADER, comparison_rows(ladder["rungs"]))
        found.append(("The ladder, accuracy in per cent", shown, comparison_words(ladder)))
        checks = tables.plain_table(HEADER, comparison_rows(ladder["cross_checks"]))
        if checks.rows and study.audit is None:
            found.append(("The same accuracies beside those of the main audit", checks, []))
    for title, compared, tables_of, words_of in (
        (
            "The main audit",
            audit_counterpart(study),
            audit_comparison_tables,
            audit_comparison_words,
        ),
        (
            "Thirty epochs",
            thirty_counterpart(study),
            thirty_comparison_tables,
            thirty_comparison_words,
        ),
    ):
        if compared is not None:
            made = [tables.plain_table(*table) for table in tables_of(compared) if table[1]]
            found += [(title, table, []) for table in made[:-1]]
            found += [(title, table, words_of(compared)) for table in made[-1:]]
    return found
