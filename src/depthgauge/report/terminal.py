"""What a terminal shows of a study when it ends."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from depthgauge.published.compare import PublishedComparison
from depthgauge.report.audit_table import TABLES, rule_table
from depthgauge.report.audit_words import audit_words, brief_audit_words, legend, question
from depthgauge.report.console import output
from depthgauge.report.documents import comparison_name
from depthgauge.report.ladder_table import caption, rows_with_curves
from depthgauge.report.ladder_words import ladder_words
from depthgauge.report.published_table import published_tables, published_words
from depthgauge.report.sparkline import BLOCKS, DIGITS
from depthgauge.report.table import terminal_table
from depthgauge.report.verdict_text import with_styled_verdicts
from depthgauge.results.study import StudyResult

MOST_LINES = 24
"""An audit ends with so many lines at most, and the path of its page."""


def print_audit(study: StudyResult, *, verbose: bool = False) -> None:
    """Print the verdicts and why each rule got its verdict; with `verbose`, all that is known."""
    console = output()
    if verbose:
        _print_evidence(console, study)
    verdicts = with_styled_verdicts(rule_table(study), signs=not console.options.ascii_only)
    lines: list[Text | RichTable] = [
        Text(question(study), "bold"),
        terminal_table(*verdicts),
        Text(legend(study)),
        Text(),
    ]
    printed = sum(len(console.render_lines(line)) for line in lines)
    for line in lines:
        console.print(line)
    sentences = brief_audit_words(study)
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
    """Print what each network gave, and every reason."""
    for make in TABLES:
        header, rows = make(study)
        if rows and make is not rule_table:
            console.print(terminal_table(header, rows))
    for sentence in audit_words(study):
        console.print(sentence, markup=False)
    console.print()


def print_ladder(study: StudyResult) -> None:
    """Print the ladder as a table and in words, and where its files are."""
    console, ladder = output(), study.ladder()
    signs = DIGITS if console.options.ascii_only else BLOCKS
    console.print(caption(ladder), markup=False)
    console.print(terminal_table(*rows_with_curves(ladder, signs)))
    for sentence in ladder_words(ladder):
        console.print(sentence, markup=False)
    console.print()
    _print_paths(console, study.folder, "ladder.json", "ladder.md", "ladder.png")


def print_comparison(study: StudyResult, comparison: PublishedComparison) -> None:
    """Print what was measured beside what was published."""
    console = output()
    console.print("measured beside published")
    for table in published_tables(comparison):
        console.print(terminal_table(*table))
    for sentence in published_words(comparison):
        console.print(sentence, markup=False)
    _print_paths(console, study.folder, f"{comparison_name(comparison)}.md")


def _print_paths(console: Console, folder: Path, *names: str) -> None:
    for path in (folder / name for name in names):
        if path.exists():
            console.print(f"{path}", markup=False, soft_wrap=True)
