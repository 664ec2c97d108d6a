"""What one panel of the ladder figure shows, from a study or from a `ladder.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, NonNegativeInt, TypeAdapter, ValidationError

from depthgauge.controls import control_in
from depthgauge.diagnostics.intervals import Interval, interval
from depthgauge.errors import UserError
from depthgauge.report.figures.text import study_title
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.ladder import read_ladder
from depthgauge.studies.rule_views import LADDER_ERROR_RATE, RuleView, Rung

OTHER_BLOCKS = ("shallow", "wide_block")
"""Controls whose networks have another number of blocks, which k does not count."""


@dataclass(frozen=True)
class Step:
    """One k of one rule: accuracies of the seeds, their 95 % interval, and how many were lost."""

    accuracies: tuple[float, ...]
    interval: Interval | None
    lost: int


@dataclass(frozen=True)
class LadderPanel:
    """A ladder: `curves[rule][k]`, of those `rules` whose networks have all of the blocks."""

    title: str
    blocks: int
    chance: float | None
    rules: tuple[str, ...]
    curves: dict[str, dict[int, Step]]


def panel_of_study(study: Gathered, views: Sequence[RuleView]) -> LadderPanel:
    """From what is known of a study; an audit without runs has no ladder."""
    blocks = (study.base.get("net") or {}).get("blocks", 0)
    own = {run.method for run in study.runs if run.config.net.blocks == blocks}
    curves = {
        view.method: {rung.k: _of_rung(rung) for rung in view.ladder if rung.runs or rung.lost}
        for view in views
        if view.method in own
    }
    rules = tuple(view.method for view in views)
    return LadderPanel(study_title(study.base), blocks, study.chance, rules, _begun(curves))


def _of_rung(rung: Rung) -> Step:
    accuracies = tuple(run.accuracy for run in rung.runs if run.accuracy is not None)
    return Step(accuracies, rung.interval, rung.lost)


def _begun(curves: dict[str, dict[int, Step]]) -> dict[str, dict[int, Step]]:
    return {rule: steps for rule, steps in curves.items() if steps}


def panel_of_document(ladder: dict[str, Any]) -> LadderPanel:
    """From the content of a `ladder.json`."""
    results = _RESULTS.validate_python(ladder.get("results"))
    curves = {
        rule: {k: _of_runs(list(runs.values())) for k, runs in sorted(rungs.items())}
        for rule, rungs in results.items()
        if control_in(rule) not in OTHER_BLOCKS
    }
    config, blocks = ladder["config"], ladder["config"]["net"]["blocks"]
    return LadderPanel(
        study_title(config), blocks, config["chance"], tuple(results), _begun(curves)
    )


def panel_of_file(path: Path) -> LadderPanel:
    """From a `ladder.json`."""
    try:
        panel = panel_of_document(read_ladder(path))
    except ValidationError as error:
        raise UserError(f"{path} is not a ladder, or a part of it is missing") from error
    if not panel.curves:
        raise UserError(f"{path} has no finished runs, so there is no ladder to draw")
    return panel


class _Run(BaseModel):
    final_acc: float | None


_RESULTS = TypeAdapter(dict[str, dict[NonNegativeInt, dict[str, _Run]]])


def _of_runs(runs: Sequence[_Run]) -> Step:
    accuracies = tuple(run.final_acc for run in runs if run.final_acc is not None)
    over_seeds = interval(accuracies, LADDER_ERROR_RATE) if len(accuracies) > 1 else None
    return Step(accuracies, over_seeds, len(runs) - len(accuracies))
