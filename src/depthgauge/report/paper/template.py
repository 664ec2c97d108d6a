"""The reporting template, filled: identification, headline, diagnostics, pitfalls."""

from __future__ import annotations

from dataclasses import dataclass

from depthgauge.report.paper.headline import headline
from depthgauge.report.paper.identification import identification
from depthgauge.report.paper.readings import diagnostics_section
from depthgauge.report.paper.section import APPLIES, AVOIDED, NOT_MEASURED, Item, Section
from depthgauge.report.paper.traps_of_judging import traps_of_judging
from depthgauge.report.paper.traps_of_measuring import traps_of_measuring
from depthgauge.report.paper.traps_of_runs import traps_of_runs
from depthgauge.results.study import StudyResult


@dataclass(frozen=True)
class Template:
    """Four parts, ready to paste."""

    sections: tuple[Section, ...]

    def to_markdown(self) -> str:
        """Headings of the third level, lists, tables."""
        return "\n".join(section.to_markdown() for section in self.sections)

    def to_latex(self) -> str:
        """Subsections; the packages that they need are named in comments."""
        return "\n".join(section.to_latex() for section in self.sections)


def reporting_template(study: StudyResult, date: str | None = None) -> Template:
    """Fill it from what is known of the study; `date` is when it was made, as far as is known."""
    return Template(
        (
            identification(study, date),
            headline(study),
            diagnostics_section(study),
            pitfalls(study),
        )
    )


def pitfalls(study: StudyResult) -> Section:
    """A checklist of traps."""
    items = (
        Item(
            "Marks", f"{AVOIDED} avoided, {APPLIES} applies here, {NOT_MEASURED} not measured here"
        ),
        *traps_of_measuring(study),
        *traps_of_runs(study),
        *traps_of_judging(study),
    )
    return Section("Pitfalls", items)
