"""The filled reporting template: identification, headline, diagnostics and pitfalls."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.report.paper.diagnostics import diagnostics_section
from depthgauge.report.paper.headline import headline
from depthgauge.report.paper.identification import identification
from depthgauge.report.paper.pitfalls import pitfalls
from depthgauge.report.paper.section import Section
from depthgauge.report.score_words import words_of
from depthgauge.results.study import StudyResult


@dataclass(frozen=True)
class Template:
    """Four sections, ready to paste; labels in LaTeX contain the study's name."""

    study: str
    sections: tuple[Section, ...]

    def to_markdown(self) -> str:
        """Return the sections as Markdown, with headings of the third level."""
        return "\n".join(section.to_markdown() for section in self.sections)

    def to_latex(self) -> str:
        """Return the sections as LaTeX subsections; comments name the packages that they need."""
        return "\n".join(section.to_latex(self.study) for section in self.sections)


def reporting_template(study: StudyResult, date: str | None = None) -> Template:
    """Fill the template with the facts of the study; `date` says when the study was made."""
    sections = (
        identification(study, date),
        headline(study),
        diagnostics_section(study),
        pitfalls(study),
    )
    reword = words_of(study)
    return Template(study.name, tuple(section.reworded(reword) for section in sections))
