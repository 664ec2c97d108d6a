"""The result files in a study's folder: audit, ladder and comparison, as JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from depthgauge.published.compare import PublishedComparison
from depthgauge.report.charts.ladder import draw_ladders
from depthgauge.report.score_words import words_of
from depthgauge.report.tables.ladder import ladder_table
from depthgauge.report.tables.layers import alignment_table
from depthgauge.report.tables.networks import network_table
from depthgauge.report.tables.published import published_tables
from depthgauge.report.tables.selection import selection_table
from depthgauge.report.tables.table import Table
from depthgauge.report.tables.utility import utility_table
from depthgauge.report.tables.verdicts import verdict_table
from depthgauge.report.texts.audit import audit_sentences
from depthgauge.report.texts.ladder import ladder_sentences
from depthgauge.report.texts.published import published_sentences
from depthgauge.report.writers.markdown_table import markdown_table
from depthgauge.report.writers.markdown_text import markdown_text
from depthgauge.results.ladder import Ladder
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_bytes, write_json, write_text
from depthgauge.store.provenance import command_line, environment


def audit_tables(study: StudyResult) -> list[Table]:
    """Return the tables of an audit that have rows, the verdicts first."""
    makers = (verdict_table, network_table, alignment_table, utility_table, selection_table)
    reword = words_of(study)
    return [table.reworded(reword) for make in makers if (table := make(study)).rows]


def write_audit(study: StudyResult) -> None:
    """Write `audit.json` and `audit.md` if the study has an audit."""
    if study.audit is None:
        return
    write_text(study.folder / "audit.json", study.audit.model_dump_json(indent=2) + "\n")
    write_text(
        study.folder / "audit.md",
        _markdown(audit_tables(study), map(words_of(study), audit_sentences(study))),
    )


def write_ladder(study: StudyResult) -> None:
    """Write `ladder.json`, `ladder.md`, `ladder.png` and `ladder.svg`."""
    ladder, folder, reword = ladder_document(study), study.folder, words_of(study)
    write_text(folder / "ladder.json", ladder.model_dump_json(indent=2) + "\n")
    write_text(
        folder / "ladder.md",
        _markdown([ladder_table(study).reworded(reword)], map(reword, ladder_sentences(ladder))),
    )
    if ladder.rules:
        figure = draw_ladders([ladder]).reworded(reword)
        for kind in ("png", "svg"):
            write_bytes(folder / f"ladder.{kind}", figure.file(kind))


def ladder_document(study: StudyResult) -> Ladder:
    """Return the ladders of a study, with the command and environment that computed them."""
    return study.ladder(environment() | {"command": command_line()})


def write_comparison(study: StudyResult, comparison: PublishedComparison) -> None:
    """Write the comparison of measured with published figures, as JSON and as Markdown."""
    name = comparison_name(comparison)
    write_json(study.folder / f"{name}.json", comparison.to_dict())
    text = _markdown(published_tables(comparison), published_sentences(comparison))
    write_text(study.folder / f"{name}.md", text)


def comparison_name(comparison: PublishedComparison) -> str:
    """Return the name of a comparison's files, without the suffix."""
    return f"comparison-{comparison.experiment}"


def _markdown(tables: Sequence[Table], sentences: Iterable[str]) -> str:
    items = "".join(f"- {markdown_text(sentence)}\n" for sentence in sentences)
    written = [markdown_table(table, caption=bool(table.caption)) for table in tables]
    return "\n".join([*written, items])
