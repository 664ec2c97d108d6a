"""Print an audit, a ladder or a comparison of studies: tables, sentences and paths of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from depthgauge.published.compare import PublishedComparison
from depthgauge.report.result_files import audit_tables, comparison_name
from depthgauge.report.score_words import reworder, words_of
from depthgauge.report.sparkline import BLOCKS, DIGITS
from depthgauge.report.tables import comparison as compared_tables
from depthgauge.report.tables.ladder import ladder_table, with_curves
from depthgauge.report.tables.published import published_tables
from depthgauge.report.tables.table import Table
from depthgauge.report.tables.verdicts import BRIEF, verdict_table
from depthgauge.report.texts import comparison as compared_texts
from depthgauge.report.texts.audit import (
    TABLE_LEGEND,
    audit_sentences,
    brief_sentences,
    how_sure,
    meanings_of_words,
    question,
)
from depthgauge.report.texts.ladder import ladder_sentences
from depthgauge.report.texts.published import published_sentences
from depthgauge.report.writers.console import output
from depthgauge.report.writers.terminal_table import terminal_table
from depthgauge.results.comparison import Comparison
from depthgauge.results.study import StudyResult

MOST_LINES = 24
"""Most lines that a brief audit prints; the path of its page follows."""


def print_audit(study: StudyResult, *, verbose: bool = False) -> None:
    """Print each verdict with its reason; with `verbose`, also all readings and sentences."""
    console, reword = output(), words_of(study)
    if verbose:
        _print_evidence(console, study)
    meaning, sure = how_sure(study)
    lines: list[Text | RichTable] = [
        Text(question(study), "bold"),
        _shown(console, verdict_table(study).only(*BRIEF).reworded(reword)),
        Text(reword(" ".join((meaning, sure, TABLE_LEGEND, *meanings_of_words(study))))),
        Text(),
    ]
    printed = sum(len(console.render_lines(line)) for line in lines)
    for line in lines:
        console.print(line)
    sentences = [reword(sentence) for sentence in brief_sentences(study)]
    for place, sentence in enumerate(sentences):
        printed += len(console.render_lines(Text(sentence)))
        if printed >= MOST_LINES and not verbose:
            console.print(f"… and {len(sentences) - place} more sentences: use --verbose")
            break
        console.print(Text(sentence))
    console.print()
    if verbose:
        _print_paths(console, study.folder, "audit.json", "audit.md")


def _print_evidence(console: Console, study: StudyResult) -> None:
    """Print the tables of readings, and every sentence of the audit."""
    for table in audit_tables(study)[1:]:
        console.print(table.caption, markup=False)
        console.print(_shown(console, table))
    for sentence in map(words_of(study), audit_sentences(study)):
        console.print(sentence, markup=False)
    console.print()


def print_ladder(study: StudyResult) -> None:
    """Print the ladder as a table and in sentences, and the paths of its files."""
    console, reword = output(), words_of(study)
    table = ladder_table(study).reworded(reword)
    signs = DIGITS if console.options.ascii_only else BLOCKS
    console.print(table.caption, markup=False)
    console.print(_shown(console, with_curves(table, study, signs)))
    for sentence in map(reword, ladder_sentences(study.ladder())):
        console.print(sentence, markup=False)
    console.print()
    _print_paths(console, study.folder, "ladder.json", "ladder.md", "ladder.png")


def print_published(study: StudyResult, comparison: PublishedComparison) -> None:
    """Print the comparison of measured with published figures."""
    console = output()
    console.print("measured beside published")
    for table in published_tables(comparison):
        console.print(_shown(console, table))
    for sentence in published_sentences(comparison):
        console.print(sentence, markup=False)
    _print_paths(console, study.folder, f"{comparison_name(comparison)}.md")


def print_comparison(compared: Comparison) -> None:
    """Print the studies, three tables with their sentences, and a guide to reading the tables."""
    console, texts, tables = output(), compared_texts, compared_tables
    reword = reworder(compared.score)
    for sentence in texts.study_sentences(compared):
        console.print(sentence, markup=False)
    console.print()
    for table, sentences, otherwise in (
        (tables.rule_table(compared), {}, texts.NO_RULE),
        (tables.same_rule_table(compared), texts.same_rule_sentences(compared), texts.NO_SAME_RULE),
        (
            tables.against_table(compared),
            texts.against_sentences(compared),
            texts.nothing_against(compared),
        ),
    ):
        own = {heading: list(map(reword, said)) for heading, said in sentences.items()}
        _print_parts(console, table.reworded(reword), own, otherwise)
    console.print(reword(texts.HOW_TO_READ), markup=False)


def _print_parts(
    console: Console, table: Table, sentences: Mapping[str, Sequence[str]], otherwise: str
) -> None:
    """Print a table in parts, one for each value of its first column: sentences, then rows.

    If there are no sentences and no rows, print `otherwise`.
    """
    parts = compared_tables.by_first_column(table)
    headings = list(dict.fromkeys([*sentences, *parts]))
    console.print(f"{table.caption}\n", markup=False, style="bold")
    for heading in headings:
        for sentence in (heading, *sentences.get(heading, ())):
            console.print(sentence, markup=False)
        console.print(_shown(console, parts[heading]) if heading in parts else "")
    if not headings:
        console.print(f"{otherwise}\n", markup=False)


def _shown(console: Console, table: Table) -> RichTable:
    return terminal_table(table, signs=not console.options.ascii_only)


def _print_paths(console: Console, folder: Path, *names: str) -> None:
    for path in (folder / name for name in names):
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
