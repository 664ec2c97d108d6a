"""The charts on a page, section by section, and what a reader can choose in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from depthgauge.config import SharedConfig
from depthgauge.diagnostics.registry import diagnostics
from depthgauge.report.charts import audit, ladder, layers, null, training
from depthgauge.report.charts.panel import Panel
from depthgauge.report.charts.rule_styles import RuleScales, RuleStyle
from depthgauge.report.score_words import Reword, reworder, words_of
from depthgauge.results.comparison import Comparison
from depthgauge.results.ladder import Ladder
from depthgauge.results.study import StudyResult
from depthgauge.verdict.thresholds import Thresholds

Section = Sequence[Panel]
Value = TypeVar("Value")


@dataclass(frozen=True)
class PageCharts:
    """The panels of each section; a section without data has none.

    Attributes:
        styles: how each rule is drawn, for the legends.
        unread: names of the diagnostics that have no panel, because nothing was read for them.
    """

    styles: dict[str, RuleStyle]
    ladder: Section
    audit: Section
    layers: Section = ()
    training: Section = ()
    null: Section = ()
    unread: Sequence[str] = ()

    @property
    def panels(self) -> list[Panel]:
        """All panels, in the order of the page."""
        return [*self.ladder, *self.audit, *self.layers, *self.training, *self.null]


def page_charts(study: StudyResult) -> PageCharts:
    """Return the charts of a study's page."""
    scales, rules = RuleScales(list(study)), list(study.rules.values())
    has_ladder = ladder.reason_missing(study) is None
    read = audit.panels(rules, study.thresholds, scales)
    known = {panel.title for panel in read}
    reword = words_of(study)
    charted = [one.name for one in diagnostics() if one.chart is not None]
    return PageCharts(
        styles=scales.styles,
        ladder=_reworded([ladder.panel(study.ladder(), scales)] if has_ladder else [], reword),
        audit=_reworded(read, reword),
        layers=_reworded(layers.panels(study, scales), reword),
        training=_reworded(training.panels(study, scales), reword),
        null=_reworded(null.panels(rules, scales), reword),
        unread=[name for name in charted if name not in known],
    )


def _reworded(panels: Section, reword: Reword) -> Section:
    return [panel.reworded(reword) for panel in panels]


def compared_charts(compared: Comparison, used: Thresholds) -> PageCharts:
    """Return the charts of several studies: their rules beside each other.

    Each label includes the name of its study. A click on a reading opens no run here, because two
    studies may share a run.
    """
    rules = [
        replace(
            rule,
            label=_name(rule.label, study.name),
            networks=tuple(replace(network, run=None) for network in rule.networks),
        )
        for study, result in zip(compared.studies, compared.results, strict=True)
        for rule in result.rules.values()
    ]
    scales, reword = RuleScales([rule.label for rule in rules]), reworder(compared.score)
    return PageCharts(
        styles=scales.styles,
        ladder=_reworded([ladder.panel(_one_ladder(compared), scales)], reword),
        audit=_reworded(audit.panels(rules, used, scales), reword),
    )


def _one_ladder(compared: Comparison) -> Ladder:
    """Return one ladder with the rules of all studies, and the facts that all studies share."""
    ladders = {
        study.name: result.ladder()
        for study, result in zip(compared.studies, compared.results, strict=True)
    }
    parts = list(ladders.values())
    return Ladder(
        config=SharedConfig(
            task=parts[0].config.task, net=_common([ladder.config.net for ladder in parts])
        ),
        chance=_common([ladder.chance for ladder in parts]),
        floors=_common([ladder.floors for ladder in parts]),
        rules=_named({name: ladder.rules for name, ladder in ladders.items()}),
        twins=_named({name: ladder.twins for name, ladder in ladders.items()}),
    )


def _common(values: Sequence[Value]) -> Value | None:
    """Return the value that all studies share; None if their values differ."""
    return values[0] if all(value == values[0] for value in values) else None


def _named(studies: Mapping[str, Mapping[str, Value]]) -> dict[str, Value]:
    return {
        _name(label, name): value for name, of in studies.items() for label, value in of.items()
    }


def _name(label: str, study: str) -> str:
    return f"{label} · {study}"


def options(panels: Section, field: str) -> list[Any]:
    """Return every value of a field in the panels; a reader of the page chooses one value."""
    every = {
        getattr(row, field)
        for panel in panels
        for rows in panel.rows.values()
        for row in rows
        if hasattr(row, field)
    }
    return sorted(every)
