"""What tables and template say of a rule alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from depthgauge.report.paper.numbers import UNKNOWN, points, spread, with_bounds
from depthgauge.studies.gathered import Gathered
from depthgauge.studies.rule_views import RuleView
from depthgauge.verdict.thresholds import Thresholds


def level(thresholds: Thresholds) -> str:
    """The level of one diagnostic's interval, in per cent."""
    return f"{100 * (1 - thresholds.error_rate_of_each):.3g} %"


def frozen(view: RuleView) -> str:
    """The frozen baseline; over how many seeds, where those are not the accuracy's."""
    n = view.frozen["n"]
    return spread(view.frozen) + (f" (n = {n})" if n and n != view.accuracy["n"] else "")


def gain(view: RuleView) -> str:
    """What training the blocks gains, in points, with its interval over seeds."""
    return with_bounds(intervals(view, "D3").get("depth_gain"), points)


def intervals(view: RuleView, name: str) -> dict[str, Any]:
    """The intervals of a diagnostic."""
    found: dict[str, Any] = {d["name"]: d["intervals"] for d in view.diagnostics}
    return dict(found.get(name, {}))


def findings(view: RuleView) -> list[str]:
    """Of D1, D2 and D3."""
    found = {d["name"]: d["finding"] for d in view.diagnostics}
    return [found.get(name, UNKNOWN) for name in ("D1", "D2", "D3")]


def basis_words(views: Sequence[RuleView]) -> str:
    """What the verdicts rest on."""
    audited = [view.method for view in views if view.basis == "audit"]
    recorded = [view.method for view in views if view.basis == "training record"]
    if not recorded:
        return "Verdicts by the audit." if audited else "No rule could be judged."
    by_record = "the norms that training wrote down after its last epoch, without an audit"
    which = f" of {', '.join(recorded)}" if audited else ""
    return f"Verdicts{which} by {by_record}."


def task_words(study: Gathered) -> str:
    """The task and its part that accuracies are of."""
    task = study.base.get("task", {})
    words = [task.get("name", UNKNOWN) + ",", task.get("evaluated_on", ""), "accuracy in %"]
    return " ".join(word for word in words if word)


def accuracy_words(study: Gathered, views: Sequence[RuleView]) -> str:
    """What accuracies and gains in a table are."""
    several = any(view.accuracy["n"] > 1 for view in views)
    spreads = "mean ± sample standard deviation over n seeds" if several else "of one seed"
    gains = [intervals(view, "D3").get("depth_gain", {"n": 0})["n"] for view in views]
    with_interval = any(n > 1 for n in gains)
    interval = f", with its {level(study.thresholds)} interval" if with_interval else ""
    gained = f"; gain in points {pairing_words(study)}{interval}" if any(gains) else ""
    return f"{task_words(study)}, {spreads}{gained}"


def pairing_words(study: Gathered) -> str:
    """What the gain is a difference of."""
    given = study.audit["config"].get("frozen_acc") if study.audit else None
    if given:
        return "over the frozen accuracy given for each rule, not paired by seed"
    return "over the frozen blocks of the same rule, paired by seed"
