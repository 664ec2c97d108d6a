"""The documents of a study: what was measured, written beside its runs."""

from __future__ import annotations

from collections.abc import Sequence

from depthgauge.published.compare import PublishedComparison
from depthgauge.report.audit_table import TABLES, Table
from depthgauge.report.audit_words import audit_words
from depthgauge.report.charts.ladder import draw_ladders
from depthgauge.report.ladder_table import caption, ladder_rows
from depthgauge.report.ladder_words import ladder_words
from depthgauge.report.paper.markdown import markdown_table, markdown_text
from depthgauge.report.published_table import published_tables, published_words
from depthgauge.results.ladder import Ladder
from depthgauge.results.study import StudyResult
from depthgauge.store.files import write_bytes, write_json, write_text
from depthgauge.store.provenance import command_line, environment


def write_audit(study: StudyResult) -> None:
    """Write `audit.json` and `audit.md`."""
    if study.audit is None:
        return
    write_text(study.folder / "audit.json", study.audit.model_dump_json(indent=2) + "\n")
    tables = [table for make in TABLES if (table := make(study))[1]]
    write_text(study.folder / "audit.md", _markdown(tables, audit_words(study)))


def write_ladder(study: StudyResult) -> None:
    """Write `ladder.json`, `ladder.md`, `ladder.png` and `ladder.svg`."""
    ladder, folder = ladder_document(study), study.folder
    write_text(folder / "ladder.json", ladder.model_dump_json(indent=2) + "\n")
    body = _markdown([ladder_rows(ladder)], ladder_words(ladder))
    write_text(folder / "ladder.md", f"{markdown_text(caption(ladder))}\n\n{body}")
    if ladder.rules:
        figure = draw_ladders([ladder])
        for kind in ("png", "svg"):
            write_bytes(folder / f"ladder.{kind}", figure.file(kind))


def ladder_document(study: StudyResult) -> Ladder:
    """Return the ladders of a study, with where they were put together."""
    return study.ladder(environment() | {"command": command_line()})


def write_comparison(study: StudyResult, comparison: PublishedComparison) -> None:
    """Write what was measured beside what was published, as JSON and as Markdown."""
    name = comparison_name(comparison)
    write_json(study.folder / f"{name}.json", comparison.to_dict())
    text = _markdown(published_tables(comparison), published_words(comparison))
    write_text(study.folder / f"{name}.md", text)


def comparison_name(comparison: PublishedComparison) -> str:
    """Return the name of a comparison's files, without their endings."""
    return f"comparison-{comparison.experiment}"


def _markdown(tables: Sequence[Table], sentences: Sequence[str]) -> str:
    words = "".join(f"- {markdown_text(sentence)}\n" for sentence in sentences)
    return "\n".join([*(markdown_table(*table) for table in tables), words])
