"""The display of a study in a notebook: the table of verdicts and the ladder chart."""

from __future__ import annotations

from html import escape

from depthgauge.report.plot import plot_of
from depthgauge.report.score_words import words_of
from depthgauge.report.tables.verdicts import BRIEF, verdict_table
from depthgauge.results.study import StudyResult


def study_html(study: StudyResult) -> str:
    """Return the table of verdicts and the ladder chart as HTML, without links."""
    table = verdict_table(study).only(*BRIEF).reworded(words_of(study))
    head = "".join(f"<th>{escape(title)}</th>" for title in table.titles)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in table.texts
    )
    problems = "".join(f"<p>{escape(problem)}</p>" for problem in study.problems)
    chart = plot_of(study, "ladder")._repr_svg_() if study.ladder().rules else ""
    title = f"<p><b>{escape(study.name)}</b>, {len(study.runs)} runs</p>"
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{title}{shown}{problems}{chart}</div>"
