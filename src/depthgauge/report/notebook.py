"""A study as a notebook shows it: the verdicts, and the ladder."""

from __future__ import annotations

from html import escape

from depthgauge.number_format import percent_spread
from depthgauge.report.audit_table import depth_cell
from depthgauge.report.plot import plot_of
from depthgauge.results.study import StudyResult


def study_html(study: StudyResult) -> str:
    """Return a table of verdicts and the ladder chart as HTML."""
    header = ("rule", "used depth", "accuracy, %", "frozen, %", "verdict")
    rows = [
        (
            rule.label,
            depth_cell(rule.used_depth),
            percent_spread(rule.accuracy),
            percent_spread(rule.frozen),
            str(rule.verdict),
        )
        for rule in study.rules.values()
    ]
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    problems = "".join(f"<p>{escape(problem)}</p>" for problem in study.problems)
    chart = plot_of(study, "ladder")._repr_svg_() if study.ladder().rules else ""
    title = f"<p><b>{escape(study.name)}</b>, {len(study.runs)} runs</p>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{title}{table}{problems}{chart}</div>"
